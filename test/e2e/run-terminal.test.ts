import { describe, expect, it, vi } from 'vitest';
import { hasProgram } from '../has-program.js';
import { eventually, workplace } from './program.js';
import { PATIENCE_MS } from '../patience.js';

const { write, read, runShipped, open } = workplace();

/** Asks twice, and tells what it was answered by metrics that are printed. */
const asks = `
command:
  - sh
  - -c
  - 'test -t 0 && echo a terminal; printf "rate? "; read -r rate; echo "step=1 loss=$rate"; printf "again? "; read -r x; exit 6'
terminal: true
name: asks
`;

describe.runIf(hasProgram('tmux', 'the terminal of a run in the window'))('a run with `terminal: true`', () => {
  it('is entered from the window with T, left with one key, and typed into by command', async () => {
    write('asks.yaml', asks);
    const window = open('asks.yaml');
    await window.waitFor((rows) => rows.some((row) => row.includes('1 running')));
    window.write('\u001b[B');
    await window.waitFor((rows) => rows.some((row) => row.includes('T terminal')));
    window.write('T');
    await window.waitFor((rows) => rows.some((row) => row.startsWith('rate? ')));
    window.write('0.5\r');
    await window.waitFor((rows) => rows.some((row) => row.startsWith('again? ')));
    window.write('\u001c');
    await window.waitFor((rows) => rows.some((row) => row.includes('Back from the terminal of runs.')));
    window.write('q');
    await window.ended();
    window.close();
    expect((await runShipped('type', 'runs', 'no')).out).toContain('1 run given the line');
    await eventually(() => read('runs/asks/runs/attempts/1/exit') === '6\n', 'the end of the run');
    expect(read('runs/asks/runs/output.log').replaceAll('\r\n', '\n')).toBe(
      'a terminal\nrate? 0.5\nstep=1 loss=0.5\nagain? no\n',
    );
    // The supervisor learns of the end, and reads the last of the output, in its own time.
    const ended = [{ state: 'failed', exit: { code: 6 }, metrics: { loss: 0.5 } }];
    const known = async () => JSON.parse((await runShipped('ls', '--json')).out) as object;
    await vi.waitFor(async () => expect(await known()).toMatchObject(ended), { timeout: PATIENCE_MS });
    expect(await runShipped('terminal', 'runs')).toMatchObject({
      code: 2,
      err: expect.stringContaining('no terminal here') as string,
    });
  });
});
