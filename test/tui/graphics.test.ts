import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { OpenTerminal } from '../../scripts/terminal.js';
import { bundledFile } from '../bundled.js';
import { kittyPictures, type SentPicture, sixelPictures } from './surface/graphics/decode-pictures.js';
import { expectRestored, startWindow, windowPid } from './window-terminal.js';

let program: string;
let terminals: OpenTerminal[] = [];
beforeAll(async () => void (program = await bundledFile('test/tui/window-program.ts')));
afterEach(() => {
  terminals.forEach((terminal) => terminal.close());
  terminals = [];
});

const cell = { width: 10, height: 20 };
const rest = '\u001b[6;20;10t\u001b[4;600;1200t\u001b[?1;0;256S\u001b]11;rgb:1010/1010/1010\u001b\\';
const answers = {
  kitty: `\u001b_Gi=31;OK\u001b\\${rest}\u001b[?62c`,
  sixel: `${rest}\u001b[?62;4c`,
};
const plainText = { TMUX: '', STY: '', ZELLIJ: '' };

async function start(
  environment: Record<string, string> = {},
  size: [number, number] = [120, 30],
): Promise<OpenTerminal> {
  const terminal = startWindow(program, { environment: { ...plainText, ...environment }, size });
  terminals.push(terminal);
  await terminal.waitFor((rows) => rows.some((row) => row.includes('detach')));
  return terminal;
}

type Protocol = keyof typeof answers;
const begins = { kitty: '\u001b_Ga=T', sixel: '\u001bP0;1;0q' };

/** What was written in whole frames. */
function framesOf({ output }: OpenTerminal): string {
  return output.slice(0, output.lastIndexOf('\u001b[?2026l'));
}

/** How many pictures were sent. */
function countOf(protocol: Protocol, terminal: OpenTerminal): number {
  return framesOf(terminal).split(begins[protocol]).length - 1;
}

/** The picture that was sent last, with the codes that move the cursor to its place. */
function lastOf(protocol: Protocol, terminal: OpenTerminal): SentPicture {
  const output = framesOf(terminal);
  const codes = output.slice(output.lastIndexOf('\u001b[', output.lastIndexOf(begins[protocol])));
  return (protocol === 'kitty' ? kittyPictures(codes) : sixelPictures(codes))[0]!;
}

/** A terminal that has pictures, once it shows that of all five curves and their names. */
async function withPictures(protocol: Protocol): Promise<OpenTerminal> {
  const terminal = await start();
  await terminal.waitFor((rows) => rows.some((row) => row.includes('B16 9.746')));
  terminal.write(answers[protocol]);
  await terminal.waitFor(() => countOf(protocol, terminal) > 0);
  return terminal;
}

/** Rows of the screen in the place of a picture, without what lies left and right of it. */
function cellsBelow(terminal: OpenTerminal, { column, row, width, height }: SentPicture): string[] {
  const lines = terminal.lines().slice(row, row + height / cell.height);
  return lines.map((line) => line.slice(column, column + width / cell.width));
}

/** How many colours there are in a picture, and in how many of its columns. */
function inkIn({ width, height, pixels }: SentPicture): { colours: number; columns: number } {
  const colours = new Set<string>();
  const columns = new Set<number>();
  for (let pixel = 0; pixel < width * height; pixel++) {
    if (pixels[pixel * 4 + 3] !== 255) continue;
    columns.add(pixel % width);
    colours.add(pixels.subarray(pixel * 4, pixel * 4 + 3).join());
  }
  return { colours: colours.size, columns: columns.size };
}

describe.each(['kitty', 'sixel'] as const)('charts on a terminal with pictures by %s', (protocol) => {
  it('are pictures in place of their dots, the axes and names around them are text', async () => {
    const terminal = await withPictures(protocol);
    const sent = lastOf(protocol, terminal);
    expect(inkIn(sent).colours).toBeGreaterThan(4);
    expect(inkIn(sent).columns).toBeGreaterThan(sent.width * 0.9);
    expect(cellsBelow(terminal, sent).join('')).not.toMatch(/[\u2801-\u28ff]/);
    expect(cellsBelow(terminal, sent).join('\n')).toContain('log2 N = 10');
    const left = terminal.lines()[sent.row + sent.height / cell.height]!;
    expect(left[sent.column - 1]).toBe('└');
  });

  it('go where a dialog lies over them, and come back', async () => {
    const terminal = await withPictures(protocol);
    const [before, count] = [lastOf(protocol, terminal), countOf(protocol, terminal)];
    terminal.write('?');
    await terminal.waitFor((rows) => rows.some((row) => row.includes('╭─ keys')));
    if (protocol === 'kitty') expect(terminal.output).toMatch(/\u001b_Ga=d,d=I,i=\d+,q=2\u001b\\/);
    terminal.write('\u001b');
    await terminal.waitFor(() => countOf(protocol, terminal) > count);
    expect(Buffer.compare(lastOf(protocol, terminal).pixels, before.pixels)).toBe(0);
  });

  it('have another size on a terminal of another size', { tags: ['long'] }, async () => {
    const terminal = await withPictures(protocol);
    const [before, count] = [lastOf(protocol, terminal), countOf(protocol, terminal)];
    terminal.resize(160, 40);
    // Below the first chart there is room for a second one: each is wider, and less high.
    await terminal.waitFor(() => countOf(protocol, terminal) >= count + 2);
    expect(lastOf(protocol, terminal).width).toBeGreaterThan(before.width);
    expect(lastOf(protocol, terminal).height).not.toBe(before.height);
    // What a character measures may have changed with it.
    expect(terminal.output.split('\u001b[16t')).toHaveLength(3);
  });

  it('are dots again when they are chosen to be', async () => {
    const terminal = await withPictures(protocol);
    const { column } = lastOf(protocol, terminal);
    terminal.write(':graphics none\r');
    await terminal.waitFor((rows) => /[\u2801-\u28ff]/.test(rows.map((row) => row.slice(column)).join('')));
  });
});

describe('pictures of kitty', () => {
  it.each<{ way: string; leave: (terminal: OpenTerminal) => void }>([
    { way: 'by its key', leave: (terminal) => terminal.write('q') },
    { way: 'by SIGTERM', leave: (terminal) => void process.kill(windowPid(terminal), 'SIGTERM') },
    { way: 'by SIGHUP', leave: (terminal) => void process.kill(windowPid(terminal), 'SIGHUP') },
  ])('are taken away before the terminal is given back $way', async ({ leave }) => {
    const terminal = await withPictures('kitty');
    leave(terminal);
    await expectRestored(terminal);
    const gone = terminal.output.lastIndexOf('\u001b_Ga=d,d=A');
    expect(gone).toBeGreaterThan(terminal.output.lastIndexOf('\u001b_Ga=T'));
    expect(gone).toBeLessThan(terminal.output.lastIndexOf('\u001b[?1049l'));
  });

  it('are taken away when the window breaks', async () => {
    const terminal = startWindow(program, { mode: 'throw-with-picture', environment: plainText, size: [120, 30] });
    terminals.push(terminal);
    await terminal.waitFor(() => terminal.output.includes('\u001b[c'));
    terminal.write(answers.kitty);
    await expectRestored(terminal);
    const gone = terminal.output.lastIndexOf('\u001b_Ga=d,d=A');
    expect(gone).toBeGreaterThan(terminal.output.lastIndexOf('\u001b_Ga=T'));
    expect(gone).toBeLessThan(terminal.output.lastIndexOf('\u001b[?1049l'));
  });
});

describe('a terminal without pictures', () => {
  it('is asked before its screen is erased, and shows dots when it says no', async () => {
    const terminal = await start();
    expect(terminal.output.indexOf('\u001b_Gi=31')).toBeLessThan(terminal.output.indexOf('\u001b[2J'));
    terminal.write('\u001b[?62c');
    terminal.write('\u001b[B\u001b[B');
    await terminal.waitFor((rows) => rows.some((row) => /[\u2801-\u28ff]{2}/.test(row)));
    expect(terminal.output).not.toMatch(/\u001b_Ga=T|\u001bP0;1;0q/);
  });

  it.each([{ TMUX: '/tmp/tmux-0/default,1,0' }, { STY: '1.pts-0' }, { TERM: 'screen-256color' }])(
    'is not asked from within tmux or screen: %o',
    async (environment) => {
      const terminal = await start(environment);
      expect(terminal.output).not.toMatch(/\u001b_G|\u001b\[16t|\u001b\[c/);
    },
  );
});
