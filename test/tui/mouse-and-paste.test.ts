import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundledFile } from '../bundled.js';
import { isHome, not } from './keys/use.js';
import { WindowAtHome } from './keys/window-at-home.js';

let program: string;
let window: WindowAtHome;
beforeAll(async () => {
  program = await bundledFile('test/tui/keys/program.ts');
  window = await WindowAtHome.open(program, 'default');
});
afterAll(() => window.terminal.close());

const left = 0;
const wheel = { up: 64, down: 65 };

/** A press and a release of a button; column and row counted from 0. */
function point(button: number, column: number, row: number): void {
  const place = `${column + 1};${row + 1}`;
  window.terminal.write(`\u001b[<${button};${place}M\u001b[<${button};${place}m`);
}

/** The pointer comes to a cell without a button. */
function move(column: number, row: number): void {
  window.terminal.write(`\u001b[<35;${column + 1};${row + 1}M`);
}

function colourAt({ column, row }: { column: number; row: number }): number {
  const { active } = window.terminal.emulator.buffer;
  return active
    .getLine(active.viewportY + row)!
    .getCell(column)!
    .getFgColor();
}

function paste(text: string): void {
  window.terminal.write(`\u001b[200~${text}\u001b[201~`);
}

/** Where a text stands on the screen, once it does, counted from 0. */
async function placeOf(text: string): Promise<{ column: number; row: number }> {
  await window.waitFor((screen) => screen.includes(text));
  const lines = window.terminal.lines();
  const row = lines.findLastIndex((line) => line.includes(text));
  return { column: lines[row]!.indexOf(text), row };
}

describe('the mouse', () => {
  it('turns the list by the wheel, three rows a notch', async () => {
    point(wheel.down, 10, 10);
    await window.waitFor(/│ ✓ A_bsweep_single_N1024_binary_s1/);
    point(wheel.up, 10, 10);
    await window.waitFor(isHome);
  });

  it('turns the log of an open run by the wheel', async () => {
    window.press('down', 'down', 'enter');
    await window.waitFor(/end · 12 KiB/);
    point(wheel.up, 10, 30);
    await window.waitFor(/line 197 · 98 %/);
    await window.goBack(['escape', 'home']);
  });

  it('selects a row by a click, and opens it by a second one', async () => {
    const { column, row } = await placeOf('B16           ━');
    point(left, column, row);
    await window.waitFor(/│ B16 *$/m);
    point(left, column, row);
    await window.waitFor(/runs │ charts/);
    await window.goBack(['escape', 'home']);
  });

  it('drags the boundary between the list and what is beside it', async () => {
    const rule = (): number => window.terminal.lines()[8]!.indexOf(' │ ') + 1;
    const before = rule();
    const drag = (from: number, to: number): void => {
      window.terminal.write(`\u001b[<0;${from + 1};9M\u001b[<32;${to + 1};12M\u001b[<0;${to + 1};12m`);
    };
    drag(before, before - 12);
    await window.waitFor(() => rule() === before - 12);
    drag(before - 12, before);
    await window.waitFor(isHome);
  });

  it('drags the left edge of a column by the space before its heading', async () => {
    const { column, row } = await placeOf('progress');
    const progress = (): number => window.terminal.lines()[row]!.indexOf('progress');
    const drag = (from: number, to: number): void => {
      const at = (x: number) => `${x};${row + 1}`;
      window.terminal.write(`\u001b[<0;${at(from)}M\u001b[<32;${at(to)}M\u001b[<0;${at(to)}m`);
    };
    drag(column, column + 2);
    await window.waitFor(() => progress() === column + 2);
    window.press('C', '=');
    await window.waitFor(() => progress() === column);
    await window.goBack(['escape']);
  });

  it('puts the cursor of a chart where it is clicked', async () => {
    const { column, row } = await placeOf('━ binary');
    point(left, column + 20, row - 8);
    move(5, 10);
    await window.waitFor(/x = [\d.]+k? │/);
    await window.goBack(['escape']);
  });

  it('presses a key by a click on its hint', async () => {
    const { column, row } = await placeOf('? help');
    point(left, column, row);
    await window.waitFor(/╭─ keys/);
    await window.goBack(['escape']);
  });

  it('shows the values of a chart where it is, and no longer when it has left', async () => {
    const { column, row } = await placeOf('━ binary');
    move(column + 20, row - 8);
    await window.waitFor(/x = [\d.]+k? │/);
    move(column + 21, row - 8);
    await window.waitFor(/x = [\d.]+k? │/);
    move(5, 10);
    await window.waitFor(not(/x = /));
    await window.goBack([]);
  });

  it('makes the curve of a row stand out before the others', async () => {
    const legend = await placeOf('━ binary');
    const colour = (): number => colourAt(legend);
    const before = colour();
    const row = await placeOf('B16           ━');
    move(row.column, row.row);
    await window.waitFor(() => colour() !== before);
    move(row.column, 1);
    await window.waitFor(() => colour() === before);
  });

  it('is followed only while that is wanted', async () => {
    expect(window.terminal.output).toContain('\u001b[?1003h');
    const { length } = window.terminal.output;
    window.terminal.write(':hover off\r');
    await window.waitFor(/hover off; saved/);
    expect(window.terminal.output.slice(length)).toMatch(/\u001b\[\?1003l(?!.*\u001b\[\?1003h)/s);
    window.terminal.write(':hover on\r');
    await window.waitFor(/hover on; saved/);
    await window.goBack([]);
  });

  it('answers no question', async () => {
    window.press('3', 'K');
    await window.waitFor(/Kill 13 runs of C\?/);
    point(wheel.down, 10, 10);
    point(left, 10, 10);
    window.press('escape');
    await window.waitFor(/Nothing was killed/);
    await window.goBack(['home']);
  });
});

describe('what is pasted', () => {
  it('is not taken for keys', async () => {
    window.press('3', 'down', 'down', 'down', 'down');
    await window.waitFor(/│ ● C_dense_multi_N16_s2/);
    paste('kkK');
    await window.waitFor(/Pasted text is ignored here/);
    expect(window.screen()).not.toContain('Kill');
    await window.goBack(['home']);
  });

  it('is text in a prompt, with its line end as a space', async () => {
    window.press('/');
    await window.waitFor(/54 of 54 runs/);
    paste('group:A\rseed=0');
    await window.waitFor(/^ \/ group:A seed=0.* 5 of 54 runs/m);
    await window.goBack(['escape']);
  });

  it('has asked for nothing', async () => {
    window.press('q');
    await window.waitFor(/^orders: 0 *$/m);
  });
});

describe('the draft of new runs', () => {
  beforeAll(async () => {
    window.terminal.write('$WINDOW\r');
    await window.goBack([]);
  });

  it('is opened again by e, and submitted by Enter', async () => {
    window.press('e');
    await window.waitFor(/╭─ extend abcd/);
    window.press('e');
    await window.waitFor(/an editor on \/tmp\/extend abcd\.yaml *$/m);
    window.press('enter');
    await window.waitFor(/╭─ extend abcd/);
    window.press('enter');
    await window.waitFor(/extend abcd: submitted/);
    await window.waitFor(not(/╭─ extend abcd/));
  });
});
