import { describe, expect, it } from 'vitest';
import { eventually, isAlive, workplace } from './program.js';

const place = workplace();

/** All fail at once; two in a row trip the breaker, before their retries. */
const sweep = `name: s
command: [sh, -c, 'exit 3']
resources: { gpus: 0 }
retry: { max: 2, backoff: 600s }
breaker: { failures: 2 }
parameters: { seed: [0, 1, 2] }
`;

const out = async (...words: string[]) => (await place.run(...words)).out;

/** How often each word of state is in a text of one run. */
const wordIn = (text: string) => /\b(held|failed|queued|killed|done)\b/.exec(text)?.[1];

/** The word for the run in each place that has one. */
async function words(): Promise<Record<string, string | undefined>> {
  const csv = await out('export', 's');
  await out('report', 's', '--html', 'page.html');
  const row = /<td[^>]*>(?:<[^>]*>)*s0[^]*?<\/tr>/g;
  const rows = place.read('page.html').match(row) ?? [];
  const reported = JSON.parse(await out('report', 's', '--json')) as { counts: object };
  return {
    export: wordIn(csv.split('\n').find((line) => line.includes(',s0,')) ?? ''),
    report: Object.keys(reported.counts).join(),
    page: wordIn(rows.at(-1) ?? ''),
    ls: wordIn(await out('ls', 's0', '--json')),
    status: wordIn(await out('status', 's', '--json')),
    wait: (await out('wait', 's')).trim(),
  };
}

describe('a run that failed and is held back from its retry', () => {
  it('is in one state wherever it is shown, with a supervisor and without', async () => {
    place.write('s.yaml', sweep);
    await place.run('s.yaml', '--slots', '1', '--plain');
    const held = {
      export: 'held',
      report: 'held',
      page: 'held',
      ls: 'held',
      status: 'held',
      wait: '0 done, 0 failed, 3 held',
    };
    expect(await words()).toEqual(held);
    const pid = place.supervisorPid()!;
    process.kill(pid, 'SIGKILL');
    await eventually(() => !isAlive(pid), 'the supervisor to end');
    // The files say nothing of the run that never began, so a supervisor is asked about it.
    const counts = (JSON.parse(await out('report', 's', '--json')) as { counts: object }).counts;
    expect(counts).toEqual({ held: 3 });
    expect((await out('export', 's')).match(/held/g)).toHaveLength(3);

    await out('kill', 'all', '-y');
    await eventually(() => place.read('runs/s/s0/run.json').includes('"state": "killed"'), 'the record to be written');
    expect(await words()).toMatchObject({ export: 'killed', report: 'killed', page: 'killed', ls: 'killed' });
  });
});
