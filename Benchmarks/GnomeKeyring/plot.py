"""Lines over logarithmic axes as an SVG image, without a library. Readable on light and on dark pages."""

import dataclasses
import html
import math

WIDTH, HEIGHT = 300, 250  # of a panel's axes
LEFT, TOP, GAP, BOTTOM = 60, 74, 76, 52
RIGHT = 30
TIMES = {1: "1 µs", 10: "10 µs", 100: "100 µs", 1e3: "1 ms", 1e4: "10 ms", 1e5: "100 ms", 1e6: "1 s", 1e7: "10 s"}
MARKS = ["circle", "square", "triangle"]

STYLE = """
text { font: 12px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600; font-size: 13px }
.muted { fill: #57606a }
.grid { stroke: #d0d7de; stroke-width: 1 }
.axis { stroke: #57606a; stroke-width: 1 }
.line { fill: none; stroke-width: 2 }
.stroke0 { stroke: #cf4a17 } .fill0 { fill: #cf4a17 }
.stroke1 { stroke: #0969da } .fill1 { fill: #0969da }
.stroke2 { stroke: #1a7f5a } .fill2 { fill: #1a7f5a }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .muted { fill: #9198a1 }
  .grid { stroke: #3d444d }
  .axis { stroke: #9198a1 }
  .stroke0 { stroke: #ff8a5c } .fill0 { fill: #ff8a5c }
  .stroke1 { stroke: #58a6ff } .fill1 { fill: #58a6ff }
  .stroke2 { stroke: #4cc38a } .fill2 { fill: #4cc38a }
}
"""


@dataclasses.dataclass
class Series:
    name: str
    points: list  # (number of items, microseconds)


class Axis:
    """Maps the decades between two values to a length."""

    def __init__(self, values, start, end):
        self.low = math.floor(math.log10(min(values)))
        self.high = max(math.ceil(math.log10(max(values))), self.low + 1)
        self.start, self.end = start, end

    def place(self, value):
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)

    def decades(self):
        return [10.0**power for power in range(self.low, self.high + 1)]


def plot(panels):
    """`panels`: a title and a list of series for each. All have the same axes."""
    points = [point for _, all_series in panels for series in all_series for point in series.points]
    counts, times = [count for count, _ in points], [time for _, time in points]
    width = LEFT + len(panels) * WIDTH + (len(panels) - 1) * GAP + RIGHT
    height = TOP + HEIGHT + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        ' role="img">',
        "<title>Time of one call by the number of items, gnome-keyring and swift-keychain</title>",
        f"<style>{STYLE}</style>",
        *legend([series.name for series in panels[0][1]]),
    ]
    for number, (title, all_series) in enumerate(panels):
        left = LEFT + number * (WIDTH + GAP)
        x = Axis(counts, left, left + WIDTH)
        y = Axis(times, TOP + HEIGHT, TOP)
        parts += axes(title, x, y)
        for place, series in enumerate(all_series):
            parts += curve(place, series, x, y)
    return "\n".join(parts + ["</svg>", ""])


def text(x, y, content, anchor="middle", kind=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{html.escape(content)}</text>'


def line(x1, y1, x2, y2, kind):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def legend(names):
    parts, x = [], LEFT
    for place, name in enumerate(names):
        parts += [line(x, 20, x + 28, 20, f"line stroke{place}"), mark(place, x + 14, 20),
                  text(x + 36, 24, name, "start")]
        x += 220
    return parts


def axes(title, x, y):
    parts = [text((x.start + x.end) / 2, y.end - 14, title, kind="title")]
    for time in y.decades():
        parts += [line(x.start, y.place(time), x.end, y.place(time), "grid"),
                  text(x.start - 8, y.place(time) + 4, TIMES[time], "end", "muted")]
    for count in x.decades():
        parts += [line(x.place(count), y.start, x.place(count), y.end, "grid"),
                  text(x.place(count), y.start + 18, f"{count:,.0f}", kind="muted")]
    return parts + [line(x.start, y.start, x.end, y.start, "axis"), line(x.start, y.start, x.start, y.end, "axis"),
                    text((x.start + x.end) / 2, y.start + 38, "items in the keyring", kind="muted")]


def curve(place, series, x, y):
    corners = [(x.place(count), y.place(time)) for count, time in series.points]
    path = " ".join(f"{across:.1f},{down:.1f}" for across, down in corners)
    return [f'<polyline points="{path}" class="line stroke{place}"/>',
            *(mark(place, across, down) for across, down in corners)]


def mark(place, x, y):
    """A shape of its own for each series: colours alone do not tell everybody."""
    kind = f'class="fill{place}"'
    shape = MARKS[place]
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" {kind}/>'
    if shape == "square":
        return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" {kind}/>'
    return f'<path d="M {x:.1f} {y - 5:.1f} l 4.8 8.4 h -9.6 z" {kind}/>'
