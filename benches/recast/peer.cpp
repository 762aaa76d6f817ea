// Recast and Detour as a program, for benches/recast.rs, which builds and starts it.
//
//     peer bake OBJ SETTINGS ROUNDS         times of a bake and of one tile, memory, polygons
//     peer paths OBJ SETTINGS PAIRS         whether each pair is joined, the length, the time
//     peer crowd OBJ SETTINGS SCENE FILE    positions in each update, into FILE
//
// SETTINGS: cell size, cell height, height, radius, step, slope, cells of a tile; with commas.
// Coordinates have y upwards. Times are CPU time of one thread, in milliseconds or microseconds.

#include <recastnavigation/DetourCrowd.h>
#include <recastnavigation/DetourNavMesh.h>
#include <recastnavigation/DetourNavMeshBuilder.h>
#include <recastnavigation/DetourNavMeshQuery.h>
#include <recastnavigation/Recast.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <time.h>
#include <vector>

namespace {

constexpr int BATCH = 20;
constexpr int PATH_POLYGONS_MAX = 4096;

double cpu_seconds() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

[[noreturn]] void fail(const std::string& reason) {
    std::cerr << "peer: " << reason << "\n";
    std::exit(1);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

struct Settings {
    float cell, cell_height, height, radius, step, slope;
    int tile_cells;
};

Settings read_settings(const char* text) {
    Settings s{};
    int count = std::sscanf(text, "%f,%f,%f,%f,%f,%f,%d", &s.cell, &s.cell_height, &s.height,
                            &s.radius, &s.step, &s.slope, &s.tile_cells);
    if (count != 7) fail("seven settings are needed");
    return s;
}

struct Ground {
    std::vector<float> points;
    std::vector<int> triangles;
    float low[3], high[3];
};

Ground read_obj(const char* path) {
    Ground ground;
    std::ifstream file(path);
    if (!file) fail(std::string("cannot read ") + path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string kind;
        words >> kind;
        if (kind == "v") {
            float x, y, z;
            words >> x >> y >> z;
            ground.points.insert(ground.points.end(), {x, y, z});
        } else if (kind == "f") {
            std::vector<int> face;
            for (std::string corner; words >> corner;) face.push_back(std::atoi(corner.c_str()) - 1);
            for (size_t at = 2; at < face.size(); at++)
                ground.triangles.insert(ground.triangles.end(), {face[0], face[at - 1], face[at]});
        }
    }
    rcCalcBounds(ground.points.data(), int(ground.points.size() / 3), ground.low, ground.high);
    return ground;
}

/// Way between two points that no ground joins.
struct Link {
    float ends[6];
};

/// Bakes tiles of one ground.
class Baker {
public:
    Baker(const Ground& ground, const Settings& settings, std::vector<Link> links = {})
        : ground(ground), settings(settings), links(std::move(links)) {
        const float side = settings.tile_cells * settings.cell;
        int columns, rows;
        rcCalcGridSize(ground.low, ground.high, settings.cell, &columns, &rows);
        width = (columns + settings.tile_cells - 1) / settings.tile_cells;
        depth = (rows + settings.tile_cells - 1) / settings.tile_cells;
        border = int(std::ceil(settings.radius / settings.cell)) + 3;
        buckets.resize(width * depth);
        const float margin = border * settings.cell;
        for (size_t at = 0; at < ground.triangles.size(); at += 3) {
            float low[2] = {1e30f, 1e30f}, high[2] = {-1e30f, -1e30f};
            for (int corner = 0; corner < 3; corner++) {
                const float* point = &ground.points[ground.triangles[at + corner] * 3];
                for (int axis = 0; axis < 2; axis++) {
                    low[axis] = std::min(low[axis], point[axis * 2]);
                    high[axis] = std::max(high[axis], point[axis * 2]);
                }
            }
            auto tile = [&](float value, int axis, int most) {
                int found = int(std::floor((value - ground.low[axis * 2]) / side));
                return std::clamp(found, 0, most - 1);
            };
            for (int y = tile(low[1] - margin, 1, depth); y <= tile(high[1] + margin, 1, depth); y++)
                for (int x = tile(low[0] - margin, 0, width); x <= tile(high[0] + margin, 0, width);
                     x++)
                    for (int corner = 0; corner < 3; corner++)
                        buckets[y * width + x].push_back(ground.triangles[at + corner]);
        }
    }

    /// Bakes all tiles. Returns the mesh, and the bytes of its data.
    dtNavMesh* bake(size_t& bytes) {
        dtNavMesh* mesh = dtAllocNavMesh();
        dtNavMeshParams params{};
        rcVcopy(params.orig, ground.low);
        params.tileWidth = params.tileHeight = settings.tile_cells * settings.cell;
        int bits = 1;
        while ((1 << bits) < width * depth) bits++;
        params.maxTiles = 1 << bits;
        params.maxPolys = 1 << (22 - bits);
        if (dtStatusFailed(mesh->init(&params))) fail("the mesh cannot be made");
        bytes = 0;
        for (int y = 0; y < depth; y++) {
            for (int x = 0; x < width; x++) {
                int size = 0;
                unsigned char* data = bake_tile(x, y, size);
                if (!data) continue;
                bytes += size;
                if (dtStatusFailed(mesh->addTile(data, size, DT_TILE_FREE_DATA, 0, nullptr)))
                    dtFree(data);
            }
        }
        return mesh;
    }

    unsigned char* bake_tile(int x, int y, int& size) {
        const std::vector<int>& triangles = buckets[y * width + x];
        if (triangles.empty()) return nullptr;
        rcContext context(false);
        rcConfig config{};
        config.cs = settings.cell;
        config.ch = settings.cell_height;
        config.walkableSlopeAngle = settings.slope;
        config.walkableHeight = int(std::ceil(settings.height / config.ch));
        config.walkableClimb = int(std::floor(settings.step / config.ch));
        config.walkableRadius = int(std::ceil(settings.radius / config.cs));
        config.maxEdgeLen = int(12 / config.cs);
        config.maxSimplificationError = 1.3f;
        config.minRegionArea = 64;
        config.mergeRegionArea = 400;
        config.maxVertsPerPoly = 6;
        config.tileSize = settings.tile_cells;
        config.borderSize = border;
        config.width = config.height = settings.tile_cells + border * 2;
        config.detailSampleDist = config.cs * 6;
        config.detailSampleMaxError = config.ch;
        const float side = settings.tile_cells * settings.cell, margin = border * settings.cell;
        rcVcopy(config.bmin, ground.low);
        rcVcopy(config.bmax, ground.high);
        config.bmin[0] = ground.low[0] + x * side - margin;
        config.bmin[2] = ground.low[2] + y * side - margin;
        config.bmax[0] = ground.low[0] + (x + 1) * side + margin;
        config.bmax[2] = ground.low[2] + (y + 1) * side + margin;

        const int count = int(triangles.size() / 3), points = int(ground.points.size() / 3);
        rcHeightfield* solid = rcAllocHeightfield();
        rcCreateHeightfield(&context, *solid, config.width, config.height, config.bmin, config.bmax,
                            config.cs, config.ch);
        std::vector<unsigned char> areas(count, 0);
        rcMarkWalkableTriangles(&context, config.walkableSlopeAngle, ground.points.data(), points,
                                triangles.data(), count, areas.data());
        rcRasterizeTriangles(&context, ground.points.data(), points, triangles.data(), areas.data(),
                             count, *solid, config.walkableClimb);
        rcFilterLowHangingWalkableObstacles(&context, config.walkableClimb, *solid);
        rcFilterLedgeSpans(&context, config.walkableHeight, config.walkableClimb, *solid);
        rcFilterWalkableLowHeightSpans(&context, config.walkableHeight, *solid);
        rcCompactHeightfield* compact = rcAllocCompactHeightfield();
        rcBuildCompactHeightfield(&context, config.walkableHeight, config.walkableClimb, *solid,
                                  *compact);
        rcFreeHeightField(solid);
        rcErodeWalkableArea(&context, config.walkableRadius, *compact);
        rcBuildDistanceField(&context, *compact);
        rcBuildRegions(&context, *compact, config.borderSize, config.minRegionArea,
                       config.mergeRegionArea);
        rcContourSet* contours = rcAllocContourSet();
        rcBuildContours(&context, *compact, config.maxSimplificationError, config.maxEdgeLen,
                        *contours);
        rcPolyMesh* polygons = rcAllocPolyMesh();
        rcPolyMeshDetail* detail = rcAllocPolyMeshDetail();
        unsigned char* data = nullptr;
        if (contours->nconts > 0 && rcBuildPolyMesh(&context, *contours, 6, *polygons)
            && polygons->npolys > 0) {
            rcBuildPolyMeshDetail(&context, *polygons, *compact, config.detailSampleDist,
                                  config.detailSampleMaxError, *detail);
            data = tile_data(*polygons, *detail, x, y, size);
        }
        rcFreePolyMeshDetail(detail);
        rcFreePolyMesh(polygons);
        rcFreeContourSet(contours);
        rcFreeCompactHeightfield(compact);
        return data;
    }

    int width, depth;

private:
    unsigned char* tile_data(rcPolyMesh& polygons, const rcPolyMeshDetail& detail, int x, int y,
                             int& size) {
        for (int at = 0; at < polygons.npolys; at++) {
            polygons.flags[at] = 1;
            polygons.areas[at] = 0;
        }
        std::vector<float> ends, radii;
        std::vector<unsigned short> flags;
        std::vector<unsigned char> areas, directions;
        std::vector<unsigned int> numbers;
        for (const Link& link : links) {
            ends.insert(ends.end(), link.ends, link.ends + 6);
            radii.push_back(settings.radius * 2);
            flags.push_back(1);
            areas.push_back(0);
            directions.push_back(DT_OFFMESH_CON_BIDIR);
            numbers.push_back(1000 + unsigned(numbers.size()));
        }
        dtNavMeshCreateParams params{};
        params.verts = polygons.verts;
        params.vertCount = polygons.nverts;
        params.polys = polygons.polys;
        params.polyAreas = polygons.areas;
        params.polyFlags = polygons.flags;
        params.polyCount = polygons.npolys;
        params.nvp = polygons.nvp;
        params.detailMeshes = detail.meshes;
        params.detailVerts = detail.verts;
        params.detailVertsCount = detail.nverts;
        params.detailTris = detail.tris;
        params.detailTriCount = detail.ntris;
        params.offMeshConVerts = ends.data();
        params.offMeshConRad = radii.data();
        params.offMeshConFlags = flags.data();
        params.offMeshConAreas = areas.data();
        params.offMeshConDir = directions.data();
        params.offMeshConUserID = numbers.data();
        params.offMeshConCount = int(links.size());
        params.walkableHeight = settings.height;
        params.walkableRadius = settings.radius;
        params.walkableClimb = settings.step;
        params.tileX = x;
        params.tileY = y;
        rcVcopy(params.bmin, polygons.bmin);
        rcVcopy(params.bmax, polygons.bmax);
        params.cs = settings.cell;
        params.ch = settings.cell_height;
        params.buildBvTree = true;
        unsigned char* data = nullptr;
        return dtCreateNavMeshData(&params, &data, &size) ? data : nullptr;
    }

    const Ground& ground;
    const Settings settings;
    const std::vector<Link> links;
    std::vector<std::vector<int>> buckets;
    int border;
};

void bake(const Ground& ground, const Settings& settings, int rounds) {
    Baker baker(ground, settings);
    std::vector<double> times, tile_times;
    size_t bytes = 0;
    dtNavMesh* mesh = nullptr;
    for (int round = 0; round < rounds; round++) {
        dtFreeNavMesh(mesh);
        double before = cpu_seconds();
        mesh = baker.bake(bytes);
        times.push_back((cpu_seconds() - before) * 1e3);
        before = cpu_seconds();
        int size = 0;
        dtFree(baker.bake_tile(baker.width / 2, baker.depth / 2, size));
        tile_times.push_back((cpu_seconds() - before) * 1e3);
    }
    std::printf("bake %.6f\ntile %.6f\nbytes %zu\n", median(times), median(tile_times), bytes);
    const dtNavMesh& known = *mesh;
    for (int at = 0; at < known.getMaxTiles(); at++) {
        const dtMeshTile* tile = known.getTile(at);
        if (!tile->header) continue;
        for (int of = 0; of < tile->header->polyCount; of++) {
            const dtPoly& polygon = tile->polys[of];
            std::printf("polygon %u", unsigned(known.getPolyRefBase(tile) | unsigned(of)));
            for (int corner = 0; corner < polygon.vertCount; corner++) {
                const float* point = &tile->verts[polygon.verts[corner] * 3];
                std::printf(" %.9g %.9g %.9g", point[0], point[1], point[2]);
            }
            std::printf("\n");
            for (unsigned link = polygon.firstLink; link != DT_NULL_LINK; link = tile->links[link].next)
                std::printf("link %u %u\n", unsigned(known.getPolyRefBase(tile) | unsigned(of)),
                            unsigned(tile->links[link].ref));
        }
    }
    dtFreeNavMesh(mesh);
}

void paths(const Ground& ground, const Settings& settings, const char* file) {
    size_t bytes = 0;
    Baker baker(ground, settings);
    dtNavMesh* mesh = baker.bake(bytes);
    dtNavMeshQuery query;
    query.init(mesh, 65535);
    dtQueryFilter filter;
    std::ifstream pairs(file);
    const float reach[3] = {2, 4, 2};
    std::vector<dtPolyRef> path(PATH_POLYGONS_MAX), refs(PATH_POLYGONS_MAX);
    std::vector<float> corners(PATH_POLYGONS_MAX * 3);
    std::vector<unsigned char> flags(PATH_POLYGONS_MAX);
    for (float ends[6]; pairs >> ends[0] >> ends[1] >> ends[2] >> ends[3] >> ends[4] >> ends[5];) {
        dtPolyRef from = 0, to = 0;
        float start[3], end[3];
        query.findNearestPoly(ends, reach, &filter, &from, start);
        query.findNearestPoly(ends + 3, reach, &filter, &to, end);
        int count = 0, points = 0;
        double length = 0;
        std::vector<double> times;
        for (int round = 0; round < 3; round++) {
            double before = cpu_seconds();
            for (int at = 0; at < BATCH; at++) {
                count = points = 0;
                query.findPath(from, to, start, end, &filter, path.data(), &count,
                               PATH_POLYGONS_MAX);
                if (count > 0)
                    query.findStraightPath(start, end, path.data(), count, corners.data(),
                                           flags.data(), refs.data(), &points, PATH_POLYGONS_MAX);
            }
            times.push_back((cpu_seconds() - before) * 1e6 / BATCH);
        }
        for (int at = 1; at < points; at++)
            length += rcVdist(&corners[at * 3 - 3], &corners[at * 3]);
        bool is_whole = count > 0 && to != 0 && path[count - 1] == to;
        std::printf("%d %.6f %.6f\n", int(is_whole), length, median(times));
    }
    dtFreeNavMesh(mesh);
}

/// Scene: number of updates and of the updates between two targets, links, agents, targets of each;
/// radius, speed, acceleration; then the links, and each agent with its targets.
void crowd(const Ground& ground, const Settings& settings, const char* file, const char* out) {
    std::ifstream scene(file);
    int updates, period, links, agents, targets;
    float radius, speed, acceleration;
    scene >> updates >> period >> links >> agents >> targets >> radius >> speed >> acceleration;
    std::vector<Link> ways(links);
    for (Link& link : ways)
        for (float& number : link.ends) scene >> number;
    std::vector<std::vector<float>> points(agents, std::vector<float>(size_t(targets + 1) * 3));
    for (std::vector<float>& of : points)
        for (float& number : of) scene >> number;
    if (!scene) fail("the scene is cut short");

    size_t bytes = 0;
    Baker baker(ground, settings, ways);
    dtNavMesh* mesh = baker.bake(bytes);
    dtCrowd crowd;
    crowd.init(agents, radius * 2, mesh);
    dtObstacleAvoidanceParams avoidance = *crowd.getObstacleAvoidanceParams(0);
    avoidance.velBias = 0.5f;
    avoidance.adaptiveDivs = 7;
    avoidance.adaptiveRings = 3;
    avoidance.adaptiveDepth = 3;
    crowd.setObstacleAvoidanceParams(3, &avoidance);
    dtCrowdAgentParams params{};
    params.radius = radius;
    params.height = settings.height;
    params.maxAcceleration = acceleration;
    params.maxSpeed = speed;
    params.collisionQueryRange = radius * 12;
    params.pathOptimizationRange = radius * 30;
    params.separationWeight = 2;
    params.obstacleAvoidanceType = 3;
    params.updateFlags = DT_CROWD_ANTICIPATE_TURNS | DT_CROWD_OPTIMIZE_VIS | DT_CROWD_OPTIMIZE_TOPO
        | DT_CROWD_OBSTACLE_AVOIDANCE | DT_CROWD_SEPARATION;
    for (const std::vector<float>& of : points) crowd.addAgent(of.data(), &params);
    FILE* positions = std::fopen(out, "wb");
    if (!positions) fail("the positions cannot be written");
    double seconds = 0;
    for (int update = 0; update < updates; update++) {
        if (update % period == 0) {
            int number = std::min(update / period, targets - 1) + 1;
            for (int at = 0; at < agents; at++) {
                dtPolyRef ref = 0;
                float nearest[3];
                crowd.getNavMeshQuery()->findNearestPoly(&points[at][number * 3],
                                                         crowd.getQueryExtents(),
                                                         crowd.getFilter(0), &ref, nearest);
                if (ref) crowd.requestMoveTarget(at, ref, nearest);
            }
        }
        double before = cpu_seconds();
        crowd.update(1.0f / 60, nullptr);
        seconds += cpu_seconds() - before;
        for (int at = 0; at < agents; at++)
            std::fwrite(crowd.getAgent(at)->npos, sizeof(float), 3, positions);
    }
    std::fclose(positions);
    std::printf("seconds %.9f\n", seconds);
    dtFreeNavMesh(mesh);
}

}  // namespace

int main(int count, char** words) {
    if (count < 5) fail("bake, paths or crowd, an obj file, settings, and a value");
    const Ground ground = read_obj(words[2]);
    const Settings settings = read_settings(words[3]);
    const std::string command = words[1];
    if (command == "bake") bake(ground, settings, std::atoi(words[4]));
    else if (command == "paths") paths(ground, settings, words[4]);
    else if (command == "crowd" && count > 5) crowd(ground, settings, words[4], words[5]);
    else fail("no such command");
}
