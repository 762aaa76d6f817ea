"""The clips of the figure, at 30 keys a second: gaits whose feet stay on the ground, a jump, a
throw, and ways to get up. A clip is (seconds, function from time to Pose)."""

import math

from rig import NO_TURN, PLACE, Pose, add, mix, rotated, scaled, times, turn, turns

ANKLE = PLACE["foot_r"][2]


def wave(t, phase=0.0):
    """A sine that repeats at whole numbers."""
    return math.sin(math.tau * (t + phase))


def smooth(t):
    t = min(max(t, 0.0), 1.0)
    return t * t * (3 - 2 * t)


def relaxed(pose, breath=0.0):
    """Shoulders, arms and hands of somebody who stands."""
    pose.rotations["chest"] = turns(x=1.5 * breath)
    pose.rotations["neck"] = turns(x=2 - breath)
    for side, x in (("l", -1), ("r", 1)):
        pose.rotations[f"upper_arm_{side}"] = turns(x=-2 + breath, y=(2 + breath) * x)
        pose.rotations[f"lower_arm_{side}"] = turns(x=14 + breath)
        pose.rotations[f"hand_{side}"] = turns(y=-6 * x)
    return pose


def feet(pose, turned=0.0):
    """Both feet flat on the ground where they are in the rest pose."""
    for side, x in (("l", -1), ("r", 1)):
        pose.stand(side, (0.115 * x, -0.02, ANKLE), 0.0, 8 + turned, 0.12)


def idle(t):
    """Breathes, and shifts the weight from one foot to the other. `t` is in parts of the clip."""
    sway, breath = wave(t), wave(2 * t)
    pose = Pose((0.012 * sway, 0.0, -0.022 + 0.003 * breath), hips=turns(y=1.2 * sway))
    relaxed(pose, breath)
    pose.rotations["spine"] = turns(y=-1.5 * sway, x=0.6 * breath)
    pose.rotations["head"] = turns(z=2 * wave(t, 0.2))
    feet(pose)
    return pose


def look_around(t):
    pose = idle(t)
    look = 42 * (smooth(t / 0.18) - 2 * smooth((t - 0.4) / 0.2) + smooth((t - 0.82) / 0.18))
    pose.rotations["head"] = turns(z=0.6 * look, x=4)
    pose.rotations["chest"] = turns(z=0.3 * look)
    feet(pose)
    return pose


class Gait:
    """A cycle of two steps that moves the body `speed` metres a second into a direction, whose
    feet are on the ground for the part `duty` of the cycle."""

    def __init__(self, seconds, speed, duty, lift, heading=0.0, **style):
        self.seconds, self.duty, self.lift = seconds, duty, lift
        self.stride = speed * seconds * duty
        self.heading = heading  # of the movement against the view, in degrees to the left
        self.style = {"low": 0.03, "bob": 0.018, "lean": 3, "arms": 22, "elbow": 18, "roll": 1.0,
                      "twist": 6, "narrow": 0.07, "sway": 0.018, **style}

    def foot(self, phase):
        """Where a foot is along the way, how high, and how far its toes point down."""
        roll = self.style["roll"]
        if phase < self.duty:  # on the ground
            s = phase / self.duty
            toes = -14 * roll * (1 - smooth(s / 0.22)) + 38 * roll * smooth((s - 0.62) / 0.38)
            return self.stride * (0.5 - s), 0.0, toes
        s = (phase - self.duty) / (1 - self.duty)
        # Leaves and reaches the ground with the speed of the ground, so that it does not skid.
        slope = -(1 - self.duty) / self.duty
        along = self.stride * (hermite(s, -0.5, 0.5, slope, slope))
        toes = roll * mix(38, -14, smooth(s / 0.75))
        return along, self.lift * math.sin(math.pi * s) ** 1.3, toes

    def pose(self, t):
        style, forward = self.style, math.cos(math.radians(self.heading))
        # Sideways, hips and feet turn a little into the direction, and the back turns back.
        aside = 28 * math.sin(math.radians(self.heading))
        heading = turn("z", aside)
        step = wave(t, 0.25 - self.duty / 2)  # 1 when the right leg is at the front
        up = wave(2 * t, 0.25 - self.duty)
        pose = Pose((style["sway"] * wave(t, -self.duty / 2 + 0.25 - 0.25), 0.0,
                     -style["low"] + style["bob"] * up))
        pose.rotations["hips"] = times(heading, turns(
            z=style["twist"] * step * forward, x=-style["lean"] * forward * 0.5,
            y=-1.6 * wave(t, -self.duty / 2)))
        straight = times(turn("z", -aside), turns(
            z=-1.9 * style["twist"] * step * forward, x=-style["lean"] * forward * 0.5))
        pose.rotations["spine"] = straight
        pose.rotations["neck"] = turns(z=0.9 * style["twist"] * step * forward,
                                       x=style["lean"] * 0.7)
        for side, x, phase in (("r", 1, t % 1), ("l", -1, (t + 0.5) % 1)):
            along, height, toes = self.foot(phase)
            way = (-math.sin(math.radians(self.heading)), forward)
            toes *= max(forward, 0.25)
            # A foot on its toes or heel has its ankle higher and nearer to them.
            rise = 0.145 * math.sin(math.radians(max(toes, 0))) + 0.05 * math.sin(
                math.radians(max(-toes, 0)))
            ankle = (style["narrow"] * x + along * way[0],
                     along * way[1] - 0.02 + 0.02 * (toes > 0) * math.sin(math.radians(toes)),
                     ANKLE + height + rise)
            pose.stand(side, ankle, toes, 4 - aside * x, 0.1)
            swing = -x * step
            pose.rotations[f"upper_arm_{side}"] = turns(
                x=style["arms"] * swing * forward - 3, y=(3 + 6 * (1 - abs(forward))) * x)
            bend = style["elbow"] + 0.35 * style["arms"] * max(swing, 0)
            pose.rotations[f"lower_arm_{side}"] = turns(x=bend, z=8 * x)
        return pose


def hermite(s, a, b, da, db):
    """A curve from a to b with slopes at its ends."""
    s2, s3 = s * s, s * s * s
    return (a * (2 * s3 - 3 * s2 + 1) + da * (s3 - 2 * s2 + s) + b * (3 * s2 - 2 * s3)
            + db * (s3 - s2))


WALK = Gait(1.02, 1.45, 0.62, 0.07)
RUN = Gait(0.66, 4.4, 0.36, 0.17, low=0.075, bob=0.035, lean=13, arms=46, elbow=72, twist=10,
           narrow=0.045, sway=0.01)
BACK = Gait(0.96, 1.2, 0.62, 0.06, heading=180, lean=2, roll=0.4)
LEFT = Gait(0.84, 1.4, 0.6, 0.05, heading=90, narrow=0.14, arms=6, low=0.05)
RIGHT = Gait(0.84, 1.4, 0.6, 0.05, heading=-90, narrow=0.14, arms=6, low=0.05)


def between_poses(keys):
    """A function from seconds to the pose between keys (time, pose)."""
    def at(seconds):
        following = next((i for i, (time, _) in enumerate(keys) if time >= seconds), len(keys) - 1)
        (t0, a), (t1, b) = keys[max(following - 1, 0)], keys[following]
        return mixed(a, b, smooth((seconds - t0) / (t1 - t0)) if t1 > t0 else 1.0)
    return at


def mixed(a, b, t):
    pose = Pose()
    pose.hips = tuple(mix(x, y, t) for x, y in zip(a.hips, b.hips))
    for name in a.rotations.keys() | b.rotations.keys():
        pose.rotations[name] = blended(a.local(name), b.local(name), t)
    return pose


def blended(a, b, t):
    """From one rotation to another along the shorter arc."""
    sign = 1 if sum(x * y for x, y in zip(a, b)) >= 0 else -1
    q = tuple(mix(x, sign * y, t) for x, y in zip(a, b))
    size = math.sqrt(sum(part * part for part in q))
    return tuple(part / size for part in q)


def stance(hips, chest, arms, legs, **joints):
    """A pose by the place and turn of the hips, the bend of the back, and targets of the limbs:
    arms are ("swing", degrees, elbow) or places; legs are (place, toes down, outward)."""
    place, rotation = hips
    pose = Pose((place[0], place[1], place[2] - PLACE["hips"][2]), hips=rotation)
    pose.rotations["spine"] = turns(x=chest * 0.5)
    pose.rotations["chest"] = turns(x=chest * 0.5)
    pose.rotations.update(joints)
    for side, x in (("l", -1), ("r", 1)):
        target = arms[0 if side == "l" else 1]
        if target[0] == "swing":
            pose.rotations[f"upper_arm_{side}"] = turns(x=target[1], y=6 * x)
            pose.rotations[f"lower_arm_{side}"] = turns(x=target[2])
        else:
            pose.touch(side, target, rotated(pose.world("chest")[1], (0.6 * x, -1.0, 0.0)))
        ankle, toes, out = legs[0 if side == "l" else 1]
        pose.stand(side, ankle, toes, 6, out)
    return pose


def jump_keys():
    flat = lambda x, y, z, toes=0.0: ((x, y, z), toes, 0.15)
    swing = lambda angle, elbow: (("swing", angle, elbow), ("swing", angle, elbow))
    crouch = stance(((0, -0.05, 0.74), turns(x=-22)), -14, swing(-48, 20),
                    (flat(-0.11, -0.02, ANKLE), flat(0.11, -0.02, ANKLE)), neck=turns(x=22))
    push = stance(((0, 0.03, 1.03), turns(x=-4)), 4, swing(70, 30),
                  (flat(-0.10, -0.05, 0.17, 48), flat(0.10, -0.05, 0.17, 48)), neck=turns(x=4))
    tuck = stance(((0, 0.02, 0.98), turns(x=-10)), -6, swing(38, 48),
                  (flat(-0.11, 0.16, 0.34, 12), flat(0.11, -0.12, 0.24, 34)), neck=turns(x=8))
    reach = stance(((0, 0.0, 0.98), turns(x=-6)), -4, swing(22, 30),
                   (flat(-0.13, 0.08, 0.16, 14), flat(0.13, 0.0, 0.14, 18)), neck=turns(x=6))
    return crouch, push, tuck, reach


CROUCH, PUSH, TUCK, REACH = jump_keys()
STAND = idle(0.0)


def fall(t):
    """In the air: legs and arms move a little."""
    pose = mixed(TUCK, REACH, 0.5 + 0.5 * wave(t))
    for side, x in (("l", -1), ("r", 1)):
        pose.rotations[f"upper_arm_{side}"] = turns(x=30, y=(34 + 8 * wave(2 * t, 0.1)) * x)
    return pose


def throw(t):
    """The right arm goes back and over the shoulder; the left one points at the target."""
    pose = idle(0.0)
    wind, go = smooth(t / 0.4), smooth((t - 0.42) / 0.16)
    home = smooth((t - 0.68) / 0.32)
    power = wind - 1.9 * go
    scale = 1 - home
    pose.rotations["spine"] = turns(z=-16 * power * scale, x=5 * power * scale)
    pose.rotations["chest"] = turns(z=-22 * power * scale, x=7 * power * scale)
    pose.rotations["neck"] = turns(z=30 * power * scale)
    rest = times(turns(x=-2, y=2), NO_TURN)
    drawn = turns(z=-18, x=-40, y=98)
    ahead = turns(z=24, x=96, y=10)
    arm = blended(blended(rest, drawn, wind), ahead, go)
    pose.rotations["upper_arm_r"] = blended(arm, rest, home)
    elbow = mix(mix(14, 104, wind), 10, go)
    pose.rotations["lower_arm_r"] = turns(x=mix(elbow, 14, home))
    left = blended(rest, turns(z=-6, x=78, y=-14), wind)
    left = blended(left, turns(x=-24, y=-18), go)
    pose.rotations["upper_arm_l"] = blended(left, turns(x=-2, y=-2), home)
    feet(pose)
    return pose


def greet(t):
    pose = idle(0.0)
    up = smooth(t / 0.25) * (1 - smooth((t - 0.75) / 0.25))
    pose.rotations["upper_arm_r"] = turns(x=10 * up, y=2 + 118 * up)
    pose.rotations["lower_arm_r"] = turns(x=14 * (1 - up), y=(58 + 26 * wave(4 * t)) * up)
    pose.rotations["head"] = turns(y=7 * up)
    feet(pose)
    return pose


def get_up_from_back():
    """Sits up, draws the feet in, and stands up over them."""
    leg = lambda x, y, z, toes=0.0, out=0.25: ((x, y, z), toes, out)
    lying = stance(((0, -0.42, 0.13), turns(x=88)), 0, ((-0.42, -0.62, 0.06), (0.42, -0.62, 0.06)),
                   (leg(-0.14, 0.38, 0.10, -62), leg(0.14, 0.38, 0.10, -62)), neck=turns(x=-8))
    bent = stance(((0, -0.42, 0.14), turns(x=62)), -26, ((-0.36, -0.72, 0.08), (0.36, -0.72, 0.08)),
                  (leg(-0.15, 0.06, ANKLE), leg(0.14, 0.20, 0.12, -30)), neck=turns(x=-16))
    sitting = stance(((0, -0.40, 0.17), turns(x=14)), -24,
                     ((-0.30, -0.66, 0.08), (0.30, -0.66, 0.08)),
                     (leg(-0.15, -0.04, ANKLE), leg(0.15, 0.0, ANKLE)), neck=turns(x=8))
    rising = stance(((0, -0.20, 0.42), turns(x=-38)), -30,
                    ((-0.24, 0.18, 0.42), (0.24, 0.16, 0.42)),
                    (leg(-0.14, -0.03, ANKLE), leg(0.14, -0.02, ANKLE)), neck=turns(x=26))
    half = stance(((0, -0.07, 0.74), turns(x=-28)), -18,
                  ((-0.22, 0.16, 0.66), (0.22, 0.14, 0.64)),
                  (leg(-0.12, -0.02, ANKLE), leg(0.12, -0.02, ANKLE)), neck=turns(x=20))
    return [(0.0, lying), (0.35, bent), (0.75, sitting), (1.2, rising), (1.55, half), (2.0, STAND)]


def get_up_from_front():
    """Pushes the chest up, draws one knee in, and stands up."""
    leg = lambda x, y, z, toes=0.0, out=0.25: ((x, y, z), toes, out)
    lying = stance(((0, 0.10, 0.12), turns(x=-88)), 0, ((-0.34, 0.52, 0.05), (0.34, 0.52, 0.05)),
                   (leg(-0.12, -0.74, 0.10, 82), leg(0.12, -0.74, 0.10, 82)), neck=turns(x=12))
    pressed = stance(((0, 0.06, 0.22), turns(x=-74)), 22,
                     ((-0.26, 0.46, 0.05), (0.26, 0.46, 0.05)),
                     (leg(-0.12, -0.72, 0.10, 78), leg(0.14, -0.52, 0.12, 70)), neck=turns(x=22))
    kneeling = stance(((0, -0.14, 0.44), turns(x=-52)), -8,
                      ((-0.24, 0.38, 0.05), (0.24, 0.36, 0.05)),
                      (leg(-0.13, -0.50, 0.11, 66), leg(0.14, 0.02, ANKLE)), neck=turns(x=34))
    rising = stance(((0, -0.10, 0.60), turns(x=-36)), -24,
                    ((-0.22, 0.22, 0.36), (0.24, 0.20, 0.46)),
                    (leg(-0.13, -0.26, 0.16, 42), leg(0.13, 0.0, ANKLE)), neck=turns(x=30))
    half = stance(((0, -0.05, 0.80), turns(x=-20)), -14,
                  ((-0.24, 0.10, 0.68), (0.24, 0.10, 0.70)),
                  (leg(-0.12, -0.04, ANKLE), leg(0.12, -0.02, ANKLE)), neck=turns(x=16))
    return [(0.0, lying), (0.4, pressed), (0.85, kneeling), (1.25, rising), (1.55, half),
            (1.9, STAND)]


def parts(seconds, function):
    """A clip by a function of its part, from 0 to 1."""
    return seconds, lambda time: function(time / seconds)


def keyed(keys):
    return keys[-1][0], between_poses(keys)


CLIPS = {
    "idle": parts(4.0, idle),
    "look_around": parts(4.0, look_around),
    "walk": parts(WALK.seconds, WALK.pose),
    "run": parts(RUN.seconds, RUN.pose),
    "walk_back": parts(BACK.seconds, BACK.pose),
    "strafe_left": parts(LEFT.seconds, LEFT.pose),
    "strafe_right": parts(RIGHT.seconds, RIGHT.pose),
    # The figure leaves the ground at once, so that the crouch before it has to be short.
    "jump": keyed([(0.0, mixed(STAND, CROUCH, 0.6)), (0.1, PUSH), (0.36, TUCK), (0.6, fall(0.0))]),
    "fall": parts(1.2, fall),
    "land": keyed([(0.0, REACH), (0.1, CROUCH), (0.4, STAND)]),
    "throw": parts(0.8, throw),
    "greet": parts(1.8, greet),
    "get_up_back": keyed(get_up_from_back()),
    "get_up_front": keyed(get_up_from_front()),
}
