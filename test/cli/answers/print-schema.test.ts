import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { answerNames, answerTable } from '../../../src/cli/answers/answer-table.js';
import { verbs } from '../../../src/cli/verb-table.js';
import { workplace } from '../../e2e/program.js';

const { run } = workplace();

describe('`memrl-tui schema`', () => {
  it('lists the answers, and which commands print them', async () => {
    const { out, code } = await run('schema');
    expect(code).toBe(0);
    expect(out.trimEnd().split('\n')).toHaveLength(answerNames.length + 2);
    expect(out).toMatch(/^report-would-stop +report --would-stop +what a rule/m);
  });

  it.each([
    { word: 'ls', file: 'ls' },
    { word: 'kill', file: 'act' },
    { word: 'grid', file: 'plan' },
    { word: 'report-would-stop', file: 'report-would-stop' },
    { word: 'error', file: 'error' },
  ])('prints that of $word as docs/json/$file.json has it', async ({ word, file }) => {
    const { out, code } = await run('schema', word);
    expect({ code, out }).toEqual({ code: 0, out: readFileSync(`docs/json/${file}.json`, 'utf8') });
  });

  it('names the nearest of what there is where there is no such verb', async () => {
    const { err, code } = await run('schema', 'stauts');
    expect(code).toBe(2);
    expect(err).toMatch(/There is no schema of `stauts`\.\n\n→ Did you mean `status`\?/);
  });

  it('has one for each verb that takes `--json`', () => {
    const lines = answerNames.flatMap((name): readonly string[] => answerTable[name].lines);
    const taking = verbs.filter(({ options }) => options.some(({ flags }) => flags === '--json'));
    const without = taking.filter(({ name }) => !lines.some((line) => line.split(' ')[0] === name));
    expect(without.map(({ name }) => name)).toEqual([]);
    expect(taking.length).toBeGreaterThan(20);
  });
});
