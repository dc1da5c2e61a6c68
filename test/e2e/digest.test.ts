import { describe, expect, it } from 'vitest';
import { workplace } from './program.js';

const { run, write } = workplace();

type Told = { state: string; next: { command: string }[] };

const digestOf = async (sweep: string) => (JSON.parse((await run('status', sweep, '--json')).out) as Told[])[0]!;

/** Those with lr=1 fail; the others write a loss. */
const little = `name: little
metric: { name: loss, goal: minimize }
command: [sh, -c, 'if [ "$0" = 1 ]; then echo loading; echo "ValueError: no such shape" >&2; exit 1; fi; echo "{\\"loss\\": $0}" > "$MEMRL_RUN_DIR/metrics.jsonl"', '\${lr}']
resources: { gpus: 0 }
breaker: false
parameters: { lr: [0.1, 0.5, 1], seed: [0, 1, 2] }
`;

describe('the digest of a sweep', () => {
  it('has what one needs at once', async () => {
    write('little.yaml', little);
    await run('little.yaml', '--plain', '--slots', '4');
    const digest = await digestOf('little');
    expect(digest).toMatchObject({
      state: 'ended',
      counts: { done: 6, failed: 3 },
      answers: [{ best: { parameters: { lr: 0.1 }, n: 3 }, tied: 0 }],
      failures: [{ error: 'ValueError: no such shape', runs: 3, log: ['loading', 'ValueError: no such shape'] }],
    });
    expect(digest.next.map(({ command }) => command)).toContain('memrl-tui resume sweep:little status:failed,lost');
    const words = (await run('status', 'little')).out;
    expect(words).toContain('failed  3 × ValueError: no such shape');
    expect(words).toMatch(/^ +lr1_s0 \| loading$/m);
  });

  it('tells a sweep in which nothing can start any more from one that runs, though another one goes on', async () => {
    write(
      'other.yaml',
      "name: other\ncommand: [sh, -c, 'until [ -e stop ]; do sleep 0.05; done']\nresources: { gpus: 0 }\n",
    );
    write(
      'broken.yaml',
      "name: broken\nresources: { gpus: 0 }\ngroups:\n  first: { command: [sh, -c, 'exit 3'] }\n  then: { needs: first, command: ['true'], parameters: { seed: [0, 1] } }\n",
    );
    await run('other.yaml', '--detach', '--slots', '2');
    await run('broken.yaml', '--detach');
    expect((await run('wait', 'broken')).code).toBe(3);
    const digest = await digestOf('broken');
    expect(digest).toMatchObject({
      state: 'blocked',
      counts: { failed: 1, queued: 2 },
      waiting: [{ words: 'needs first, which failed', runs: 2 }],
    });
    expect((await digestOf('other')).state).toBe('running');
    expect((await run('status', 'broken')).out).toContain('broken: blocked · 0 of 3 done, 1 failed, 2 queued');
    write('stop', '');
    expect((await run('wait', 'other')).code).toBe(0);
  });
});
