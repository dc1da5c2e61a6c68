import type { Figure } from './curve-figures.js';
import { escaped } from './markup.js';

/** Height and left edge of an entry in the legend, CSS pixels. */
const LINE = 18;
const LEFT = 64;

/**
 * A figure as an SVG file, on white, with its legend below. Readers of files are stricter than browsers: no attribute may occur
 * twice.
 */
export function standalone({ svg, legend }: Pick<Figure, 'svg' | 'legend'>): string {
  const [head] = /^<svg [^>]*>/.exec(svg) ?? [''];
  const [, width = '0', height = '0'] = / viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(head) ?? [];
  const room = legend.length === 0 ? 0 : LINE * legend.length + LINE / 2;
  const whole = Number(height) + room;
  const bare = head.replace(/ (?:xmlns|color|style|viewBox|height)="[^"]*"/g, '');
  const paper = `xmlns="http://www.w3.org/2000/svg" color="#1b1f24" style="font-size:12px" viewBox="0 0 ${width} ${whole}" height="${whole}"`;
  const entries = legend.map(({ colour, text }, index) => {
    const y = Number(height) + LINE * (index + 0.5);
    const stroke = `<path d="M${LEFT},${y}h20" stroke="${colour}" stroke-width="3"/>`;
    return `${stroke}<text x="${LEFT + 28}" y="${y + 4}" text-anchor="start">${escaped(text)}</text>`;
  });
  const end = svg.lastIndexOf('</svg>');
  return [
    bare.replace('<svg ', () => `<svg ${paper} `),
    '<rect width="100%" height="100%" fill="#fff"/>',
    svg.slice(head.length, end),
    ...entries,
    svg.slice(end),
  ].join('');
}
