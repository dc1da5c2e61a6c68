import { beforeEach, describe, expect, it } from 'vitest';
import {
  PictureLayer,
  type Graphics,
  type GraphicsProtocol,
} from '../../../../src/tui/surface/graphics/picture-layer.js';
import type { PlotImage } from '../../../../src/tui/surface/span.js';
import { themeFor } from '../../../../src/tui/surface/theme.js';

let now = 0;
let drawn = 0;
beforeEach(() => void ([now, drawn] = [0, 0]));

const theme = themeFor({ colours: 256, ascii: false });

function layerFor(protocol: GraphicsProtocol): PictureLayer {
  const graphics: Graphics = { protocol, cell: { width: 8, height: 12 }, colours: 256, background: [0, 0, 0] };
  return new PictureLayer(graphics, theme, () => now);
}

/** A plot of 10 × 4 characters with one pixel set; `noise`: with so many more that it is large to send. */
function plot({ x = 0, y = 0, noise = 0 } = {}): PlotImage {
  return {
    ...{ columns: 10, rows: 4 },
    draw: (cell) => {
      drawn++;
      const size = { width: Math.round(10 * cell.width), height: Math.round(4 * cell.height) };
      const pixels = new Uint8Array(size.width * size.height * 4);
      pixels.set([255, 0, 0, 255], (y * size.width + x) * 4);
      for (let at = 0; at < noise * 4; at++) pixels[pixels.length - 1 - at] = (at * at * 7919 + at) % 253;
      return { ...size, pixels };
    },
  };
}

const at = { left: 20, top: 5 };

describe('the pictures on a terminal', () => {
  it.each(['kitty', 'sixel'] as const)('are sent once, and again only when another is there: %s', (protocol) => {
    const layer = layerFor(protocol);
    const first = plot();
    layer.arrange([{ of: first, ...at }]);
    expect(layer.drawings().map(({ column, row }) => ({ left: column, top: row }))).toEqual([at]);
    layer.arrange([{ of: first, ...at }]);
    expect(layer.drawings()).toEqual([]);
    // Drawn anew, and the same.
    layer.arrange([{ of: plot(), ...at }]);
    expect([layer.drawings(), drawn]).toEqual([[], 2]);
    layer.arrange([{ of: plot({ x: 9 }), ...at }]);
    expect(layer.drawings()).toHaveLength(1);
  });

  it('are sent in sixels only where they differ, with the cells of that below cleared before', () => {
    const layer = layerFor('sixel');
    layer.arrange([{ of: plot(), ...at }]);
    layer.drawings();
    const { spoilt } = layer.arrange([{ of: plot({ x: 17, y: 30 }), ...at }]);
    // From the pixel that went at 0, 0 to that which came at 17, 30.
    expect(spoilt).toEqual([{ left: 20, top: 5, right: 23, bottom: 8 }]);
    const [drawing] = layer.drawings();
    expect(drawing).toMatchObject({ column: 20, row: 5 });
    expect(drawing!.codes).toContain('"1;1;24;36');
  });

  it('come back where letters were written over them, at little cost', () => {
    const layer = layerFor('kitty');
    const first = plot();
    layer.arrange([{ of: first, ...at }]);
    const [{ codes: sent } = { codes: '' }] = layer.drawings();
    layer.arrange([{ of: first, ...at }]);
    layer.shown[0]!.touch(6, 22);
    const [again] = layer.drawings();
    expect(again!.codes).toMatch(/^\u001b_Ga=p,[^;]*\u001b\\$/);
    expect(again!.codes.length).toBeLessThan(sent.length / 2);
  });

  it('are taken away when they are not seen any more', () => {
    const kitty = layerFor('kitty');
    kitty.arrange([{ of: plot(), ...at }]);
    expect(kitty.arrange([])).toMatchObject({
      codes: expect.stringMatching(/^\u001b_Ga=d,d=I,i=\d+,q=2\u001b\\$/) as string,
      spoilt: [],
    });
    const sixel = layerFor('sixel');
    sixel.arrange([{ of: plot(), ...at }]);
    expect(sixel.arrange([])).toMatchObject({ codes: '', spoilt: [{ left: 20, top: 5, right: 30, bottom: 9 }] });
    expect([...kitty.shown, ...sixel.shown]).toEqual([]);
  });

  it('have different numbers when they are shown together', () => {
    const layer = layerFor('kitty');
    layer.arrange([0, 10, 20].map((top) => ({ of: plot(), left: 0, top })));
    layer.arrange([10, 20, 30].map((top) => ({ of: plot(), left: 0, top })));
    expect(new Set(layer.shown.map(({ id }) => id)).size).toBe(3);
  });

  it('wait when too much has been sent, and say how long', () => {
    const layer = layerFor('sixel');
    let sent = 0;
    let waitMs: number | null = null;
    for (let time = 0; waitMs === null && time < 1000; time++) {
      ({ waitMs } = layer.arrange([{ of: plot({ noise: 3000, x: 70 * (time % 2), y: 40 * (time % 2) }), ...at }]));
      sent += layer.drawings().reduce((sum, { codes }) => sum + codes.length, 0);
    }
    expect(sent).toBeGreaterThan(64 * 1024);
    expect(sent).toBeLessThan(128 * 1024);
    expect(layer.shown).toEqual([]);
    const before = drawn;
    layer.arrange([{ of: plot(), ...at }]);
    expect(drawn).toBe(before);
    now += waitMs!;
    expect(layer.arrange([{ of: plot(), ...at }]).waitMs).toBeNull();
    expect(layer.shown).toHaveLength(1);
  });

  it('are smaller than their cells where those have very many pixels and the terminal can stretch them', () => {
    const sizes: number[] = [];
    const large: PlotImage = {
      ...{ columns: 200, rows: 100 },
      draw: (cell) => {
        const raster = { width: Math.round(200 * cell.width), height: Math.round(100 * cell.height) };
        sizes.push(raster.width * raster.height);
        return { ...raster, pixels: new Uint8Array(raster.width * raster.height * 4) };
      },
    };
    layerFor('kitty').arrange([{ of: large, left: 0, top: 0 }]);
    layerFor('sixel').arrange([{ of: large, left: 0, top: 0 }]);
    expect(sizes[0]).toBeLessThan(1_010_000);
    expect(sizes[1]).toBe(200 * 8 * 100 * 12);
  });
});
