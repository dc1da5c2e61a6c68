import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InputDecoder, type InputEvent, Pointer } from '../../../src/tui/terminal/input-decoder.js';

function decoded(...reads: string[]): InputEvent[] {
  const decoder = new InputDecoder();
  return reads.flatMap((read) => decoder.push(read));
}
const key = (name: string): InputEvent => ({ kind: 'key', name });

describe('what a terminal sends', () => {
  it.each<[string, string, InputEvent[]]>([
    ['letters, one by one', 'kK', [key('k'), key('K')]],
    ['letters of any script', 'é你😀', [key('é'), key('你'), key('😀')]],
    ['control characters', '\r\t\u007f \u0003', ['enter', 'tab', 'backspace', 'space', 'ctrl-c'].map(key)],
    ['arrows', '\u001b[A\u001b[B\u001b[C\u001b[D', ['up', 'down', 'right', 'left'].map(key)],
    ['arrows of an application', '\u001bOA\u001bOF', ['up', 'end'].map(key)],
    ['arrows with Shift or Control', '\u001b[1;2A\u001b[1;5B', ['up', 'down'].map(key)],
    [
      'pages and ends',
      '\u001b[5~\u001b[6~\u001b[1~\u001b[4~\u001b[H',
      ['pageup', 'pagedown', 'home', 'end', 'home'].map(key),
    ],
    ['Alt and a letter, which is not the letter', '\u001bk', [key('alt-k')]],
    ['escape twice', '\u001b\u001b[A', ['escape', 'up'].map(key)],
    ['keys that mean nothing here', '\u001b[15~\u001bOP\u001b[[A\u001b[I', []],
    [
      'answers to questions about pictures, and to others',
      '\u001b]11;rgb:ffff/ffff/ffff\u001b\\\u001bP1+r\u0007\u001b]10;rgb:0/0/0\u0007\u001b_Gi=31;OK\u001b\\\u001b[6;20;10t\u001b[?1;0;256S\u001b[?1;2c',
      [
        '\u001b]11;rgb:ffff/ffff/ffff\u001b\\',
        '\u001b_Gi=31;OK\u001b\\',
        '\u001b[6;20;10t',
        '\u001b[?1;0;256S',
        '\u001b[?1;2c',
      ].map((codes): InputEvent => ({ kind: 'answer', codes })),
    ],
    [
      'keys told without ambiguity',
      '\u001b[27u\u001b[105;5u\u001b[9;2u\u001b[107;3u\u001b[107;2u',
      ['escape', 'ctrl-i', 'shift-tab', 'alt-k', 'K'].map(key),
    ],
    [
      'modifiers alone, keys of no character, and nonsense told so',
      '\u001b[57441;2u\u001b[57414u\u001b[u\u001b[99999999u',
      [],
    ],
    ['the answer that keys can be told so', '\u001b[?1u', [{ kind: 'keyboard' }]],
    ['a click', '\u001b[<0;10;5M\u001b[<0;10;5m', [{ kind: 'click', column: 9, row: 4 }]],
    ['a click with Control', '\u001b[<16;1;1M', [{ kind: 'click', column: 0, row: 0 }]],
    [
      'where the pointer goes',
      '\u001b[<35;3;4M\u001b[<51;4;4M',
      [3, 4].map((x) => ({ kind: 'move', column: x - 1, row: 3 })),
    ],
    ['the other buttons', '\u001b[<2;1;1M', []],
    ['a drag', '\u001b[<32;3;2M', [{ kind: 'drag', column: 2, row: 1 }]],
    [
      'the wheel',
      '\u001b[<64;3;4M\u001b[<65;300;4M',
      [
        { kind: 'wheel', way: 'up', column: 2, row: 3 },
        { kind: 'wheel', way: 'down', column: 299, row: 3 },
      ],
    ],
    [
      'a paste, which is no keys',
      '\u001b[200~kkK\r\u001b[A\u001b[201~q',
      [{ kind: 'paste', text: 'kkK\r\u001b[A' }, key('q')],
    ],
    ['an empty paste', '\u001b[200~\u001b[201~', [{ kind: 'paste', text: '' }]],
  ])('%s', (_, sent, events) => {
    expect(decoded(sent)).toEqual(events);
    // However the line cuts it.
    expect(decoded(...sent)).toEqual(events);
  });

  it('gives the same events wherever the reads are cut', () => {
    const piece = fc.constantFrom(
      ...['a', 'K', ' ', '你', '\r', '\u001b[A', '\u001bOB', '\u001b[5~', '\u001b[<0;10;5M', '\u001b[<65;1;99M'],
      ...['\u001b[200~kK\u001b[201~', '\u001b[200~\u001b[2\u001b[201~', '\u001b]11;rgb:00/00/00\u0007', '\u001b[1;5D'],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat(80), { maxLength: 6 }), (pieces, cuts) => {
        const sent = pieces.join('');
        const places = [0, ...cuts.filter((cut) => cut <= sent.length).sort((a, b) => a - b), sent.length];
        const reads = places.slice(1).map((to, index) => sent.slice(places[index], to));
        expect(decoded(...reads)).toEqual(decoded(sent));
      }),
    );
  });

  it('never makes a key out of a mouse report, wherever it is cut and however long the rest takes', () => {
    const report = '\u001b[<0;107;52M';
    for (let cut = 1; cut < report.length; cut++) {
      const decoder = new InputDecoder();
      const events = [decoder.push(report.slice(0, cut)), decoder.settle(), decoder.push(report.slice(cut))].flat();
      expect(
        events.filter(({ kind, ...rest }) => kind === 'key' && !('name' in rest && rest.name === 'escape')),
      ).toEqual([]);
      expect(events.at(-1)).toEqual({ kind: 'click', column: 106, row: 51 });
    }
  });

  it('takes a lone escape for the key once nothing follows', () => {
    const decoder = new InputDecoder();
    expect(decoder.push('\u001b')).toEqual([]);
    expect(decoder.isWaiting).toBe(true);
    expect(decoder.settle()).toEqual([key('escape')]);
    expect(decoder.settle()).toEqual([]);
    expect(decoder.push('[x')).toEqual([key('['), key('x')]);
  });

  it('survives whatever bytes come, and keeps no more of a paste than a prompt could want', () => {
    fc.assert(fc.property(fc.array(fc.string({ unit: 'binary' })), (reads) => void decoded(...reads)));
    const [paste] = decoded('\u001b[200~', 'x'.repeat(300_000), '\u001b[201~');
    expect(paste).toMatchObject({ kind: 'paste', text: 'x'.repeat(100_000) });
  });
});

describe('the pointer', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is told once a frame, and where it is then', () => {
    const told: number[] = [];
    const pointer = new Pointer(({ column }) => told.push(column));
    for (let column = 0; column < 100; column++) pointer.hear({ column, row: 1 });
    vi.advanceTimersByTime(16);
    expect(told).toEqual([99]);
    pointer.hear({ column: 7, row: 1 });
    vi.advanceTimersByTime(16);
    expect(told).toEqual([99, 7]);
  });

  it('is told no more once the window is closed', () => {
    const tell = vi.fn();
    const pointer = new Pointer(tell);
    pointer.hear({ column: 1, row: 1 });
    pointer.close();
    vi.advanceTimersByTime(1000);
    expect(tell).not.toHaveBeenCalled();
  });
});
