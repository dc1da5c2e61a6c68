import { expect, it } from 'vitest';
import { pngPainter } from '../../src/cli/write-page.js';

const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20" style="background:#fff"><rect width="9" height="9"/></svg>';

it('draws an SVG as a PNG of twice its size', async () => {
  const { png, hasFonts } = await pngPainter();
  const picture = png(svg);
  expect(picture.subarray(1, 4).toString()).toBe('PNG');
  expect([picture.readUInt32BE(16), picture.readUInt32BE(20)]).toEqual([60, 40]);
  expect(typeof hasFonts).toBe('boolean');
});

it('says what to install where the package is missing', async () => {
  const load = (name: string) => Promise.reject(new Error(`Cannot find package '${name}'`));
  await expect(pngPainter(load)).rejects.toMatchObject({
    message: expect.stringContaining('@resvg/resvg-js, which is not installed') as string,
    fix: expect.stringContaining('npm install @resvg/resvg-js') as string,
  });
});

it.each([
  { box: undefined, hasFonts: false },
  { box: { width: 12 }, hasFonts: true },
])('knows whether there are fonts by whether a letter has a size: $hasFonts', async ({ box, hasFonts }) => {
  const Resvg = class {
    getBBox = () => box;
  };
  expect((await pngPainter(() => Promise.resolve({ Resvg }))).hasFonts).toBe(hasFonts);
});
