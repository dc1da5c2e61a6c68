import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RasterCanvas } from '../../../../src/tui/widgets/chart/raster-painter.js';

const [width, height] = [40, 30];
const red = [255, 0, 0] as const;
const blue = [0, 0, 255] as const;

function opacities(canvas: RasterCanvas, column: number): number[] {
  const { pixels } = canvas.raster();
  return Array.from({ length: height }, (_, row) => pixels[(row * width + column) * 4 + 3]!);
}

function drawn(points: readonly { x: number; y: number }[], pencil = { colour: red, width: 2 }): RasterCanvas {
  const canvas = new RasterCanvas(width, height);
  canvas.stroke(points.length, (index) => points[index]!, pencil);
  return canvas;
}

describe('a stroke of pixels', () => {
  it('fills its width, and half of a pixel where it lies between two', () => {
    const whole = drawn([
      { x: 0, y: 10 },
      { x: width, y: 10 },
    ]);
    expect(opacities(whole, 20).slice(8, 12)).toEqual([0, 255, 255, 0]);
    const between = drawn([
      { x: 0, y: 10.5 },
      { x: width, y: 10.5 },
    ]);
    expect(opacities(between, 20).slice(8, 13)).toEqual([0, 136, 255, 136, 0]);
  });

  it('has no holes from its first point to its last, and nothing beyond its width', () => {
    const point = fc.record({
      x: fc.double({ min: -5, max: 45, noNaN: true }),
      y: fc.double({ min: 2, max: 28, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(point, { minLength: 2, maxLength: 30 }), (some) => {
        const points = some.sort((a, b) => a.x - b.x);
        const canvas = drawn(points);
        const [from, to] = [points[0]!.x, points.at(-1)!.x];
        for (let column = 0; column < width; column++) {
          const covered = opacities(canvas, column).some((opacity) => opacity > 0);
          if (column >= from && column + 1 <= to) expect(covered).toBe(true);
          if (column > to + 1.5 || column + 1 < from - 1.5) expect(covered).toBe(false);
        }
      }),
    );
  });

  it('is interrupted where there is no number, and where its dashes are', () => {
    const points = [0, 10, Number.NaN, 30, 40].map((x) => ({ x, y: 10 }));
    expect(Math.max(...opacities(drawn(points), 20))).toBe(0);
    expect(Math.max(...opacities(drawn(points), 35))).toBe(255);
    const dashed = new RasterCanvas(width, height);
    const pencil = { colour: red, width: 2, isDrawnAt: (x: number) => x < 10 || x > 20 };
    dashed.stroke(2, (index) => ({ x: index * width, y: 10 }), pencil);
    expect([5, 15, 30].map((column) => Math.max(...opacities(dashed, column)))).toEqual([255, 0, 255]);
  });

  it('lies over what was drawn before, or below it', () => {
    for (const isBehind of [false, true]) {
      const canvas = drawn([
        { x: 0, y: 10 },
        { x: width, y: 10 },
      ]);
      canvas.stroke(2, (index) => ({ x: 20, y: index * height }), { colour: blue, width: 4, isBehind });
      const at = (10 * width + 20) * 4;
      expect([...canvas.raster().pixels.subarray(at, at + 3)]).toEqual(isBehind ? red : blue);
    }
  });

  it('mixes what is not opaque', () => {
    const canvas = new RasterCanvas(width, height);
    canvas.fill(3, { top: 0, bottom: 10 }, { colour: red, opacity: 1 });
    canvas.fill(3, { top: 5, bottom: 10.5 }, { colour: blue, opacity: 0.5 });
    canvas.fill(3, { top: 9, bottom: 10 }, { colour: blue, opacity: 1, isBehind: true });
    const { pixels } = canvas.raster();
    const at = (row: number): number[] => [...pixels.subarray((row * width + 3) * 4, (row * width + 3) * 4 + 4)];
    expect([at(2), at(7), at(10)]).toEqual([
      [255, 0, 0, 255],
      [130, 0, 130, 255],
      [0, 0, 255, 68],
    ]);
  });
});
