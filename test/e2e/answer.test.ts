import { describe, expect, it } from 'vitest';
import { workplace } from './program.js';

const { run, write } = workplace();

/** Two tasks whose losses are on scales of their own; lr=1 diverges on both. The third digit of a loss is that of its seed. */
const sweep = `name: tasks
metric: { name: loss, goal: minimize }
command: [sh, -c, 'case "$2" in 1) l=NaN;; 0.1) l=$1.2$3;; *) l=$1.7$3;; esac; echo "{\\"step\\": 1, \\"loss\\": $l}" > "$MEMRL_RUN_DIR/metrics.jsonl"', sh, '\${task}', '\${lr}', '\${seed}']
parameters: { lr: { values: [0.01, 0.1, 1] }, seed: { values: [0, 1, 2] } }
groups:
  small: { parameters: { task: { value: 1 } } }
  large: { parameters: { task: { value: 50 } } }
`;

type Told = { group: string | null; best: { parameters: object; median: number; runs: string[] }; toldApart: boolean };

describe('the answer of a sweep', () => {
  it('is that of each group, the same in best, status and report; of all groups on request', async () => {
    write('tasks.yaml', sweep);
    expect((await run('tasks.yaml', '--plain', '--gpus', 'none')).out).toContain('18 done, 0 failed');
    const told = JSON.parse((await run('best', 'tasks', '--json')).out) as Told[];
    expect(told).toMatchObject([
      { group: 'small', best: { parameters: { lr: 0.1 }, median: 1.21 }, toldApart: true },
      { group: 'large', best: { parameters: { lr: 0.1 }, median: 50.21 }, toldApart: true },
    ]);
    expect(told.map(({ best }) => best.runs.length)).toEqual([3, 3]);
    const best = (await run('best', 'tasks')).out;
    expect(best).toContain('tasks · large · loss, lowest first · 9 of 9 runs done');
    expect(best).toContain(
      'lr=0.1 is best: loss 50.2 over 3 runs, told apart from all others; next is lr=0.01 (50.7 over',
    );
    expect(best).toContain('lr=1 is no candidate: its runs diverged, collapsed or ended with NaN.');
    const across = JSON.parse((await run('best', 'tasks', '--across', '--json')).out) as Told[];
    expect(across).toMatchObject([{ group: null, best: { median: 1.21, runs: { length: 3 } } }]);
    // Two of three rates have a finite loss: too few runs of a group, and enough of both.
    expect((await run('best', 'tasks', '--importance')).out).toContain('6 runs with a value, 8 are needed.');
    const shares = (await run('best', 'tasks', '--importance', '--across')).out.replace(/\s+/g, ' ');
    expect(shares).toContain('Of the variance of loss the parameters make up: task 100 % ± 0 %, lr 0 % ± 0 %;');
    const [status] = JSON.parse((await run('status', 'tasks', '--json')).out) as { answers: Told[]; next: object[] }[];
    expect(status?.answers.map(({ group, best: { median } }) => [group, median])).toEqual([
      ['small', 1.21],
      ['large', 50.21],
    ]);
    const words = (await run('status', 'tasks')).out;
    expect(words).toContain('best median loss 1.21: lr=0.1\n');
    expect(words).toContain('best median loss 50.2: lr=0.1\n');
    expect(status?.next).toEqual([{ command: 'memrl-tui report tasks --html tasks.html', why: 'a page to send' }]);
    expect(words).toContain('next    memrl-tui report tasks --html tasks.html   a page to send\n');
    const report = (await run('report', 'tasks')).out;
    expect(report).toContain('lr=0.1 is best: loss 50.2 over 3 runs');
  });
});
