import type { Heatmap } from './heatmap.js';
import { heatmapNeeds, heatmapSection } from './heatmap-section.js';
import { blank, fitLine, type Line, span } from './span.js';

const gap = 3;

/** As many heatmaps beside and below each other as are still readable; the first in any case. At most `height` lines. */
export function heatmapGrid(
  maps: readonly Heatmap[],
  place: { readonly top: number; readonly left: number },
  { width, height }: { readonly width: number; readonly height: number },
): Line[] {
  const [first] = maps;
  if (first === undefined) return [];
  const needs = heatmapNeeds(first);
  const columns = Math.max(1, Math.min(maps.length, Math.floor((width + gap) / (needs.width + gap))));
  const rows = Math.max(1, Math.min(Math.ceil(maps.length / columns), Math.floor(height / needs.height)));
  const each = { width: Math.floor((width - gap * (columns - 1)) / columns), height: Math.floor(height / rows) };
  return Array.from({ length: rows }, (_, row) => row).flatMap((row): Line[] => {
    const drawn = maps.slice(row * columns, (row + 1) * columns).map((map) => heatmapSection(map, place, each));
    const tall = Math.max(...drawn.map(({ length }) => length));
    const band = Array.from({ length: tall }, (__, line): Line =>
      drawn.flatMap((lines, column) => [
        ...(column > 0 ? [span(' '.repeat(gap))] : []),
        ...fitLine(lines[line] ?? [], each.width),
      ]),
    );
    return tall < each.height && row + 1 < rows ? [...band, blank(width)] : band;
  });
}
