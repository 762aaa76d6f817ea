//! The particle update of Mick West, "Multithreading Particle Systems", Game Developer, April 2006:
//! a force away from a center, drag, a color from the speed, and a whisker from which particles
//! bounce. The particles are independent, so any thread can update any slice of them.

use engine::foundation::random::Random;

const CENTRE: [f32; 2] = [640.0, 360.0];
/// End points of the whisker.
const WHISKER: [[f32; 2]; 2] = [[500.0, 300.0], [800.0, 420.0]];

/// All particles as a structure of arrays; positions in pixels, speeds in pixels a second.
#[derive(Clone, PartialEq)]
pub struct Particles {
    x: Vec<f32>,
    y: Vec<f32>,
    speed_x: Vec<f32>,
    speed_y: Vec<f32>,
    colour: Vec<u32>,
}

/// A slice of consecutive particles.
pub struct Piece<'a> {
    x: &'a mut [f32],
    y: &'a mut [f32],
    speed_x: &'a mut [f32],
    speed_y: &'a mut [f32],
    colour: &'a mut [u32],
}

impl Particles {
    pub fn new(n: usize) -> Particles {
        let mut random = Random::seed(9);
        let mut draw = |size: f32| (0..n).map(|_| random.next_f64() as f32 * size).collect();
        let (x, y) = (draw(1280.0), draw(720.0));
        let (speed_x, speed_y) = (draw(50.0), draw(50.0));
        Particles { x, y, speed_x, speed_y, colour: vec![0; n] }
    }

    /// Passes the bits of every number to `each`.
    pub fn each_bits(&self, mut each: impl FnMut(u32)) {
        for numbers in [&self.x, &self.y, &self.speed_x, &self.speed_y] {
            numbers.iter().for_each(|number| each(number.to_bits()));
        }
        self.colour.iter().for_each(|colour| each(*colour));
    }

    /// Returns the sum of all positions and speeds, in their order.
    pub fn sum(&self) -> f64 {
        let all = [&self.x, &self.y, &self.speed_x, &self.speed_y];
        all.into_iter().flatten().map(|number| f64::from(*number)).sum()
    }

    pub fn all(&mut self) -> Piece<'_> {
        Piece {
            x: &mut self.x,
            y: &mut self.y,
            speed_x: &mut self.speed_x,
            speed_y: &mut self.speed_y,
            colour: &mut self.colour,
        }
    }
}

impl<'a> Piece<'a> {
    /// Splits the slice into the first `n` particles and the rest.
    pub fn split_at(self, n: usize) -> (Piece<'a>, Piece<'a>) {
        let (x, y) = (self.x.split_at_mut(n), self.y.split_at_mut(n));
        let speed_x = self.speed_x.split_at_mut(n);
        let speed_y = self.speed_y.split_at_mut(n);
        let colour = self.colour.split_at_mut(n);
        let piece = |x, y, speed_x, speed_y, colour| Piece { x, y, speed_x, speed_y, colour };
        (
            piece(x.0, y.0, speed_x.0, speed_y.0, colour.0),
            piece(x.1, y.1, speed_x.1, speed_y.1, colour.1),
        )
    }

    pub fn update(self, dt: f32) {
        let n = self.x.len();
        let (x, y) = (&mut self.x[..n], &mut self.y[..n]);
        let (speed_x, speed_y) = (&mut self.speed_x[..n], &mut self.speed_y[..n]);
        let colour = &mut self.colour[..n];
        let [[ax, ay], [bx, by]] = WHISKER;
        let (along_x, along_y) = (bx - ax, by - ay);
        let length = (along_x * along_x + along_y * along_y).sqrt();
        let (normal_x, normal_y) = (-along_y / length, along_x / length);
        for i in 0..n {
            let (px, py) = (x[i], y[i]);
            let (move_x, move_y) = (speed_x[i] * dt, speed_y[i] * dt);
            let (to_x, to_y) = (px - CENTRE[0], py - CENTRE[1]);
            let force = 1000.0 / (to_x * to_x + to_y * to_y);
            let (mut vx, mut vy) = (speed_x[i] + to_x * force, speed_y[i] + to_y * force);
            (vx, vy) = (vx - 0.03 * vx, vy - 0.03 * vy);
            let speed = (vx * vx + vy * vy).sqrt();
            // SAFETY: speeds are finite and far below 2^31.
            colour[i] = (0xff80_0000u32 as i32 + unsafe { speed.to_int_unchecked::<i32>() }) as u32;
            // The intersection of the particle's path with the whisker, if they intersect.
            let (from_x, from_y) = (ax - px, ay - py);
            let cross = move_x * along_y - move_y * along_x;
            let way = (from_x * along_y - from_y * along_x) / cross;
            let along = (from_x * move_y - from_y * move_x) / cross;
            let hit = (0.0..=1.0).contains(&way) & (0.0..=1.0).contains(&along);
            // The side from which the particle came.
            let side = if from_x * normal_x + from_y * normal_y > 0.0 { -0.01 } else { 0.01 };
            let way = if hit { way } else { 1.0 };
            let off = if hit { side } else { 0.0 };
            let back = if hit { 2.0 * (vx * normal_x + vy * normal_y) } else { 0.0 };
            x[i] = px + move_x * way + normal_x * off;
            y[i] = py + move_y * way + normal_y * off;
            speed_x[i] = vx - back * normal_x;
            speed_y[i] = vy - back * normal_y;
        }
    }
}
