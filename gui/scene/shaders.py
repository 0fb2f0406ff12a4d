"""Shader programs.

Inputs are in camera axes, from the eye. Images are drawn upside down, so that OpenGL returns their rows in image order.
"""

AMBIENT, SKY, KEY = 0.20, 0.34, 0.62
"""Fractions of a colour by ambient light, by the sky from above, and by the key light."""

_LIGHT = (
    f"""
const vec3 shares = vec3({AMBIENT}, {SKY}, {KEY});
"""
    + """
uniform vec3 light;   // towards the key light
uniform vec3 zenith;  // upwards
uniform vec3 gloss;   // halfway between the key light and the eye
uniform float rim;    // how much edges brighten, below 0: darken

vec3 lit(vec3 colour, vec3 n, vec3 towards_eye, float glow) {
    float key = max(dot(n, light), 0.0);
    float sky = 0.5 + 0.5 * dot(n, zenith);
    float edge = 1.0 - max(dot(n, towards_eye), 0.0);
    float sheen = max(dot(n, gloss), 0.0);
    sheen *= sheen; sheen *= sheen; sheen *= sheen; sheen *= sheen; sheen *= sheen;
    vec3 shade = colour * dot(shares, vec3(1.0, sky, key)) + 0.30 * sheen * (0.4 + 0.6 * colour);
    return mix(shade + rim * edge * edge * edge, colour, glow);
}
"""
)

SOLID_VERTEX = """#version 330
layout(location = 0) in vec2 corner;
layout(location = 1) in vec4 begin;  // centre, radius
layout(location = 2) in vec4 end;
layout(location = 3) in vec4 colour;
layout(location = 4) in vec2 look;   // stripes per metre, glow
uniform vec2 scale;   // of the picture plane at distance 1, to -1 … 1
uniform float pixel;  // its size on that plane
flat out vec4 ball_0;
flat out vec4 ball_1;
flat out vec4 paint;
flat out vec2 looks;
out vec2 ray;

void main() {
    vec2 p = begin.xy / -begin.z, q = end.xy / -end.z;
    float r = 1.12 * begin.w / -begin.z + 1.5 * pixel, s = 1.12 * end.w / -end.z + 1.5 * pixel;
    vec2 along = q - p;
    float length_ = length(along);
    along = length_ > 1e-6 ? along / length_ : vec2(1.0, 0.0);
    vec2 across = vec2(-along.y, along.x) * max(r, s) * corner.y;
    ray = across + (corner.x < 0.0 ? p - along * max(r, s - length_) : q + along * max(s, r - length_));
    ball_0 = begin; ball_1 = end; paint = colour; looks = look;
    gl_Position = vec4(ray.x * scale.x, -ray.y * scale.y, 0.0, 1.0);
}
"""

SOLID_FRAGMENT = (
    """#version 330
flat in vec4 ball_0;
flat in vec4 ball_1;
flat in vec4 paint;
flat in vec2 looks;
in vec2 ray;
uniform vec2 depths;  // near and far
layout(location = 0) out vec4 result;
"""
    + _LIGHT
    + """
// A ray meets the hull of two balls: Quilez, "Intersectors", rounded cone. The ray begins beside the solid, not at the
// eye, or single precision would leave edges ragged. An edge's share of a pixel is its distance over the pixel's size.
void main() {
    vec3 towards = normalize(vec3(ray, -1.0));
    vec3 a = ball_0.xyz, b = ball_1.xyz;
    float ra = ball_0.w, rb = ball_1.w, start = dot(0.5 * (a + b), towards);
    vec3 beside = start * towards, ba = b - a, oa = beside - a, ob = beside - b;
    float rr = ra - rb, m0 = dot(ba, ba), m1 = dot(ba, oa), m2 = dot(ba, towards), m3 = dot(towards, oa);
    float m5 = dot(oa, oa), m6 = dot(ob, towards), m7 = dot(ob, ob);
    float d2 = m0 - rr * rr;
    float k2 = d2 - m2 * m2, k1 = d2 * m3 - m1 * m2 + m2 * rr * ra;
    float k0 = d2 * m5 - m1 * m1 + m1 * rr * ra * 2.0 - m0 * ra * ra;
    float body = k1 * k1 - k0 * k2, cap_0 = m3 * m3 - m5 + ra * ra, cap_1 = m6 * m6 - m7 + rb * rb;
    float share = -1.0, t = 1e9, along = 0.0;
    vec3 n = -towards;
    float body_share = body / max(fwidth(body), 1e-30), share_0 = cap_0 / max(fwidth(cap_0), 1e-30);
    float share_1 = cap_1 / max(fwidth(cap_1), 1e-30);
    if (d2 > 1e-10 && k2 > 1e-12) {
        t = (-sqrt(max(body, 0.0)) - k1) / k2;
        along = m1 - ra * rr + t * m2;
        if (along > 0.0 && along < d2) {
            share = body_share;
            n = normalize(d2 * (oa + t * towards) - ba * along);
        } else t = 1e9;
    }
    if (share < -0.5) {
        float t0 = -m3 - sqrt(max(cap_0, 0.0)), t1 = -m6 - sqrt(max(cap_1, 0.0));
        bool first = share_1 < -0.5 || (share_0 >= -0.5 && t0 < t1);
        t = first ? t0 : t1;
        share = first ? share_0 : share_1;
        along = first ? 0.0 : d2;
        n = normalize(first ? oa + t0 * towards : ob + t1 * towards);
    }
    float covered = clamp(share + 0.5, 0.0, 1.0);
    if (covered <= 0.01) discard;
    vec3 colour = paint.rgb;
    if (looks.x > 0.0 && fract(along / max(sqrt(d2), 1e-9) * looks.x) < 0.5) colour *= 0.18;
    float alpha = paint.a * covered;
    result = vec4(lit(colour, n, -towards, looks.y) * alpha, alpha);
    float w = (start + t) * -towards.z;
    float depth = clamp(depths.y * (w - depths.x) / ((depths.y - depths.x) * w), 0.0, 1.0);  // as of a mesh
    gl_FragDepth = looks.y < 1.0 ? depth : 0.0;  // what is light alone shines through all else
}
"""
)

MESH_VERTEX = """#version 330
layout(location = 0) in vec3 place;
layout(location = 1) in vec3 normal;
uniform mat3 turn;   // from the body's axes to the camera's
uniform vec3 shift;  // the body's origin, from the eye
uniform vec2 scale;
uniform vec2 depths;  // near and far
out vec3 seen;
out vec3 upright;

void main() {
    seen = turn * place + shift;
    upright = turn * normal;
    float w = -seen.z;
    float depth = depths.y * (w - depths.x) / (depths.y - depths.x);
    gl_Position = vec4(seen.x * scale.x, -seen.y * scale.y, 2.0 * depth - w, w);
}
"""

MESH_FRAGMENT = (
    """#version 330
in vec3 seen;
in vec3 upright;
uniform vec4 paint;
layout(location = 0) out vec4 result;
"""
    + _LIGHT
    + """
void main() {
    vec3 towards_eye = normalize(-seen), n = normalize(upright);
    if (dot(n, towards_eye) < 0.0) n = -n;
    result = vec4(lit(paint.rgb, n, towards_eye, 0.0) * paint.a, paint.a);
}
"""
)
