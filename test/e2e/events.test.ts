import { spawn } from 'node:child_process';
import { rmSync, truncateSync, statSync, appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { describe, expect, it, vi } from 'vitest';
import { PATIENCE_MS } from '../patience.js';
import { isAlive, program, workplace } from './program.js';

const { at, folder, run, supervisorPid, write } = workplace();

type Told = {
  cursor: string;
  event: string;
  sweep: string;
  run?: string;
  attempt?: number;
  gap?: true;
  [more: string]: unknown;
};

const told = async (...words: string[]): Promise<Told[]> => {
  const { code, out, err } = await run('events', '--json', ...words);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Told);
};

/** The whole stream, once it has so many events of a kind: the last of them come a moment after what they tell. */
const toldWith = (event: string, count: number) =>
  vi.waitUntil(async () => {
    const all = await told();
    return all.filter((each) => each.event === event).length >= count && all;
  }, PATIENCE_MS);

/** An event in a few words: `a_s0 failed`. */
const brief = ({ event, run: name = '', attempt = 0 }: Told) => `${name} ${event} ${attempt}`;

/** New bests come when metrics are read, which is some time after the end of a run. */
const orderly = (all: readonly Told[]) => all.filter(({ event }) => event !== 'best').map(brief);

/** Seed 1 fails, the others write a loss that is less with every seed. */
const sweep = `name: s
metric: { name: loss, goal: minimize }
command: [sh, -c, 'if [ "$0" = 1 ]; then echo "ValueError: no" >&2; exit 3; fi; echo "{\\"loss\\": $((9 - $0))}" > "$MEMRL_RUN_DIR/metrics.jsonl"', '\${seed}']
resources: { gpus: 0 }
breaker: false
parameters: { seed: [0, 1, 2] }
`;

describe('the stream of events', () => {
  it('tells what happened in its order, and goes on behind a cursor', async () => {
    write('s.yaml', sweep);
    await run('s.yaml', '--plain', '--slots', '1');
    const all = await toldWith('best', 2);
    expect(orderly(all)).toEqual([
      's0 submitted 0',
      's0 started 1',
      's0 done 1',
      's1 started 1',
      's1 failed 1',
      's2 started 1',
      's2 done 1',
      ' finished 0',
    ]);
    expect(all.find(({ event }) => event === 'failed')).toMatchObject({
      reason: 'ValueError: no',
      code: 3,
      group: 'runs',
    });
    expect(all.find(({ event }) => event === 'finished')).toMatchObject({ counts: { done: 2, failed: 1 } });
    expect(all.filter(({ event }) => event === 'best').map(({ run: name, value }) => [name, value])).toEqual([
      ['s0', 9],
      ['s2', 7],
    ]);
    const [, second] = all;
    expect((await told('--since', second!.cursor)).map(brief)).toEqual(all.slice(2).map(brief));
    await run('resume', 's1', '-y');
    await run('wait', 's1');
    await toldWith('finished', 2);
    const later = await told('s', '--since', all.at(-1)!.cursor);
    expect(orderly(later)).toEqual(['s1 resumed 0', 's1 started 2', 's1 failed 2', ' finished 0']);
    const words = (await run('events')).out;
    expect(words).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}s\/s1 {2}failed \(exit code 3\): ValueError: no$/m);
  });

  it('misses nothing and tells nothing twice, however often supervisor and reader are killed', async () => {
    write(
      'n.yaml',
      `name: n\ncommand: [sh, -c, 'sleep 0.0$0', '\${seed}']\nresources: { gpus: 0 }\nparameters: { seed: [${Array.from({ length: 40 }, (_, n) => n + 10).join()}] }\n`,
    );
    await run('n.yaml', '--detach', '--slots', '2');
    const seen: Told[] = [];
    for (let kills = 0; kills < 8; kills++) {
      // A reader that is killed after some lines has handled the last one that it has read.
      const since = seen.at(-1)?.cursor;
      const child = spawn(
        process.execPath,
        [program, 'events', '--json', '--follow', ...(since === undefined ? [] : ['--since', since])],
        { cwd: folder() },
      );
      const most = 3 + kills;
      let count = 0;
      for await (const line of createInterface(child.stdout)) {
        seen.push(JSON.parse(line) as Told);
        if (++count >= most) break;
      }
      child.kill('SIGKILL');
      const pid = supervisorPid();
      if (pid !== null && isAlive(pid)) process.kill(pid, 'SIGKILL');
    }
    await run('wait', 'n');
    await toldWith('finished', 1);
    seen.push(...(await told('--since', seen.at(-1)!.cursor)));
    expect(seen.some(({ gap }) => gap)).toBe(false);
    const ends = seen.filter(({ event }) => event === 'done').map(({ run: name }) => name);
    expect(ends.toSorted()).toEqual(Array.from({ length: 40 }, (_, n) => `s${n + 10}`).toSorted());
    const starts = seen.filter(({ event }) => event === 'started').map(brief);
    expect(new Set(starts).size).toBe(starts.length);
    expect(seen.map(brief)).toEqual((await told()).map(brief));
    expect(seen.filter(({ event }) => event === 'finished')).toHaveLength(1);
  });

  it('cuts off a torn line, and says so where a cursor is of another stream', async () => {
    write('s.yaml', sweep);
    await run('s.yaml', '--plain', '--slots', '1');
    const all = await toldWith('finished', 1);
    const pid = supervisorPid();
    if (pid !== null && isAlive(pid)) process.kill(pid, 'SIGKILL');
    const file = at('runs/.supervisor/events.jsonl');
    // As a machine that lost its power leaves it: the end of the last line is not there.
    truncateSync(file, statSync(file).size - 20);
    expect(orderly(await told())).toEqual(orderly(all));
    const other = supervisorPid();
    if (other !== null && isAlive(other)) process.kill(other, 'SIGKILL');
    appendFileSync(file, 'not JSON\n');
    expect(orderly(await told())).toEqual(orderly(all));
    rmSync(file);
    await run('resume', 's1', '-y');
    await run('wait', 's1');
    await toldWith('finished', 1);
    const [first, ...rest] = await told('--since', all.at(-1)!.cursor);
    expect(first).toMatchObject({ gap: true, event: 'resumed' });
    expect(orderly(rest)).toEqual(['s1 started 2', 's1 failed 2', ' finished 0']);
    expect((await run('events', '--since', 'yesterday')).err).toMatch(/--since yesterday is no cursor/);
    expect((await run('events', 'nonsense')).code).toBe(4);
  });
});
