import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { parseJsonLine } from '../../src/contract/json-line.js';
import { expandSweep } from '../../src/spec/expand/expand-sweep.js';
import { parseSweepFile } from '../../src/spec/file/parse-sweep-file.js';
import { hasProgram } from '../has-program.js';
import { removeFolder } from '../remove-folder.js';

const hasPython = hasProgram('python3', 'the Python part of sweeps/any-command.yaml');
const runsDirectory = mkdtempSync(join(tmpdir(), 'any-command-'));
afterAll(() => removeFolder(runsDirectory));

describe('sweeps/any-command.yaml', () => {
  const path = 'sweeps/any-command.yaml';
  const { runs } = expandSweep(parseSweepFile(readFileSync(path, 'utf8'), path), {
    ...{ runsDirectory, cwd: runsDirectory, environment: {} },
  });

  const cases = [
    {
      name: 'python_lr0.1_noise0_s1',
      steps: 200,
      better: (first: number, last: number) => last < first / 2,
      metric: 'loss',
    },
    {
      name: 'shell_number20000000',
      steps: 20,
      better: (_: number, last: number) => last === 4472,
      metric: 'root',
    },
  ];
  it.each(cases.filter(({ name }) => hasPython || !name.startsWith('python')))(
    'runs as planned and writes its curve: $name',
    async ({ name, steps, better, metric }) => {
      const run = runs.find((one) => one.name === name)!;
      mkdirSync(run.directory, { recursive: true });
      const [program, ...words] = run.argv;
      await promisify(execFile)(program!, words, { cwd: run.cwd });
      const rows = readFileSync(join(run.directory, 'metrics.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => parseJsonLine(line));
      expect(rows.map((row) => row!['step'])).toEqual(Array.from({ length: steps }, (_, index) => index + 1));
      expect(better(Number(rows[0]![metric]), Number(rows.at(-1)![metric]))).toBe(true);
    },
  );
});
