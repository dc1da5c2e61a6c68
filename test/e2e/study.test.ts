import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { OpenTerminal } from '../../scripts/terminal.js';
import { workplace } from './program.js';

const { run, write, read, open } = workplace();
let terminal: OpenTerminal | null = null;
afterEach(() => terminal?.close());

describe('a sweep with a study of its own', () => {
  it('shows it in its report, for programs, on the page and in the window, once the runs are done', async () => {
    const example = join(process.cwd(), 'examples/study.mjs');
    write(
      'rates.yaml',
      `
groups:
  runs:
    command: [sh, -c, 'printf "{\\"step\\": 0, \\"accuracy\\": 40}\\n{\\"step\\": 1, \\"accuracy\\": $1}\\n" > "$2/metrics.jsonl"', sh, '\${acc}', '\${run_dir}']
    cases: [{ lr: 0.01, acc: 90 }, { lr: 0.01, acc: 80 }, { lr: 0.1, acc: 60 }]
  study: { needs: [runs], command: [node, '${example}', '\${sweep_dir}'] }
`,
    );
    const launched = await run('rates.yaml', '--plain', '--slots', '3');
    expect({ code: launched.code, err: launched.err }).toEqual({ code: 0, err: '' });
    expect(`\n${launched.out.slice(launched.out.indexOf('rates · 4 done'))}`).toMatchInlineSnapshot(`
      "
      rates · 4 done

      accuracy by learning rate
      holds: The smallest rate is best.
           lr     accuracy (%)
      ────────────────────────
      ●  0.01  85 [80, 90] n=2
          0.1  60 [60, 60] n=1
      In brackets: from the worst seed to the best.
      1 figure, which \`memrl-tui report\` draws with --html: Accuracy over learning rate

      runs
      lr=0.01 acc=90 has the best value, accuracy 90 over 1 run; next is lr=0.01 acc=80 (80 over 1 run). No setting was run twice, so that it may
        be chance.
      setting         n  states  accuracy ↑
      ─────────────────────────────────────
      lr=0.01 acc=90  1  1 done        ● 90
      lr=0.01 acc=80  1  1 done          80
      lr=0.1 acc=60   1  1 done          60

      study
      setting  n  states
      ──────────────────
      all      1  1 done

      ●: the best of its column; ↑ ↓ which way is better.
      "
    `);
    const { studies } = JSON.parse((await run('report', 'rates', '--json')).out) as { studies: unknown[] };
    expect(studies).toMatchObject([{ file: 'study.json', run: null, verdicts: [{ verdict: 'holds' }], warnings: [] }]);
    await run('report', 'rates', '--html', 'rates.html');
    expect(read('rates.html')).toMatch(
      /<h2>accuracy by learning rate<\/h2>[\s\S]*aria-label="Accuracy over learning rate"/,
    );
    expect(/aria-label="accuracy over step of 3 runs"[\s\S]*?<\/svg>/.exec(read('rates.html'))![0]).toContain(
      '>chance<',
    );
    terminal = open('attach', 'rates');
    const shows = (what: RegExp) => terminal!.waitFor((rows) => rows.some((row) => what.test(row)));
    // The line is in the chart, beside the run's own name and value.
    await shows(/│.*chance/);
    terminal.write('S');
    await shows(/holds: The smallest rate is best\./);
    await shows(/0\.01 {2}85 \[80, 90\] n=2/);
    terminal.write('q');
    await terminal.ended();
  });
});
