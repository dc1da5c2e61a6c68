import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kittyPicture } from '../../../../src/tui/surface/graphics/picture-layer.js';
import { cropOf, differenceOf, type Raster } from '../../../../src/tui/surface/graphics/raster.js';
import { sixelPicture } from '../../../../src/tui/surface/graphics/sixel.js';
import { kittyPictures, sixelPictures } from './decode-pictures.js';

const transparent = [0, 0, 0, 0] as const;
// Amounts that percents can tell.
const colour = fc.tuple(...[0, 1, 2].map(() => fc.constantFrom(0, 51, 102, 153, 204, 255)));
const opaque = colour.map((parts) => [...parts, 255]);

/** Pictures of few colours with stretches of one colour, as plots are. */
function pictures(pixel: fc.Arbitrary<readonly number[]>): fc.Arbitrary<Raster> {
  const size = { width: fc.integer({ min: 1, max: 40 }), height: fc.integer({ min: 1, max: 20 }) };
  const stretch = fc.tuple(fc.constantFrom(1, 1, 3, 4, 90), pixel);
  return fc.record({ ...size, stretches: fc.array(stretch, { minLength: 1, maxLength: 60 }) }).map((drawn) => {
    const row = drawn.stretches.flatMap(([length, parts]) => Array.from({ length }, () => parts));
    const all = Array.from({ length: drawn.width * drawn.height }, (_, at) => row[at % row.length]!);
    return { width: drawn.width, height: drawn.height, pixels: Uint8Array.from(all.flat()) };
  });
}

function onScreen(codes: string): string {
  return `text\u001b[3;5H${codes}more text`;
}

describe('a picture for a terminal', () => {
  it('is the same when it is read back, by the protocol of kitty', () => {
    const pixel = fc.oneof(
      fc.constant(transparent),
      fc.tuple(colour, fc.constantFrom(17, 255)).map((each) => each.flat()),
    );
    fc.assert(
      fc.property(pictures(pixel), (raster) => {
        const found = kittyPictures(onScreen(kittyPicture(raster, { id: 7, columns: 4, rows: 2 })));
        expect(found).toHaveLength(1);
        expect(found[0]).toMatchObject({ column: 4, row: 2, ...raster });
        expect(found[0]!.control).toMatch(/i=7,c=4,r=2,.*C=1,q=2/);
      }),
    );
  });

  it('is the same when it is read back as sixels', () => {
    fc.assert(
      fc.property(pictures(fc.oneof(fc.constant(transparent), opaque)), (raster) => {
        const codes = sixelPicture(raster, { colours: 256, background: [0, 0, 0] });
        expect(sixelPictures(onScreen(codes))).toEqual([expect.objectContaining({ column: 4, row: 2, ...raster })]);
      }),
    );
  });

  it('is cut into pieces of no more than 4096 characters', () => {
    // Some hundred colours in no order.
    let state = 1;
    const next = (): number => (state = (state * 48_271) % 0x7fff_ffff) >> 20;
    const pixels = Uint8Array.from({ length: 100 * 100 * 4 }, () => (next() & 7) * 32);
    const codes = kittyPicture({ width: 100, height: 100, pixels }, { id: 1, columns: 1, rows: 1 });
    const pieces = [...codes.matchAll(/\u001b_G([^;]*);([^\u001b]*)\u001b\\/g)];
    expect(pieces.length).toBeGreaterThan(2);
    expect(Math.max(...pieces.map(([, , data]) => data!.length))).toBe(4096);
    expect(pieces.map(([, control]) => /m=(\d)/.exec(control!)![1]).join('')).toMatch(/^1+0$/);
  });

  it('shows the background through what is not opaque where there are only sixels', () => {
    const pixels = Uint8Array.of(255, 0, 0, 51, 0, 0, 0, 0);
    const codes = sixelPicture({ width: 2, height: 1, pixels }, { colours: 16, background: [0, 255, 255] });
    expect([...sixelPictures(onScreen(codes))[0]!.pixels]).toEqual([51, 204, 204, 255, 0, 0, 0, 0]);
  });

  it('has no more colours than the terminal, and the rarest become the nearest', () => {
    // Reds, one a pixel, but for the last, of which there are two.
    const reds = Array.from({ length: 40 }, (_, at) => [Math.min(at, 38) * 5, 0, 0, 255]);
    const raster = { width: 40, height: 1, pixels: Uint8Array.from(reds.flat()) };
    const codes = sixelPicture(raster, { colours: 15, background: [0, 0, 0] });
    expect([...codes.matchAll(/#(\d+);2;/g)].map(([, register]) => Number(register))).toEqual(
      Array.from({ length: 16 }, (_, register) => register),
    );
    const shown = sixelPictures(onScreen(codes))[0]!.pixels;
    expect(Math.abs(shown[38 * 4]! - 190)).toBeLessThan(3);
    expect(shown[30 * 4]).toBe(shown[38 * 4]);
  });
});

describe('what differs between two pictures', () => {
  it('is within the box that is told, and that box has a difference at each of its edges', () => {
    const size = { width: 6, height: 5 };
    const pixels = fc.array(fc.constantFrom(0, 0, 0, 0, 0, 0, 9), { minLength: 30, maxLength: 30 });
    const rasterOf = (values: readonly number[]): Raster => ({
      ...size,
      pixels: Uint8Array.from(values.flatMap((value) => [value, 0, 0, 255])),
    });
    fc.assert(
      fc.property(pixels, pixels, (before, after) => {
        const differing = before.flatMap((value, at) =>
          value === after[at] ? [] : [[at % 6, Math.floor(at / 6)] as const],
        );
        const [columns, rows] = [differing.map(([column]) => column), differing.map(([, row]) => row)];
        const box = differenceOf(rasterOf(before), rasterOf(after));
        if (differing.length === 0) {
          expect(box).toBeNull();
          return;
        }
        expect(box).toEqual({
          ...{ left: Math.min(...columns), right: Math.max(...columns) + 1 },
          ...{ top: Math.min(...rows), bottom: Math.max(...rows) + 1 },
        });
        const cut = cropOf(rasterOf(after), box!);
        expect(cut.pixels[0]).toBe(after[box!.top * 6 + box!.left]);
        expect(cut.pixels.length).toBe((box!.right - box!.left) * (box!.bottom - box!.top) * 4);
      }),
    );
  });
});
