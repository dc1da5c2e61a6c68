import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hasProgram } from '../has-program.js';
import { shellWords } from '../../src/text/shell-words.js';
import { PATIENCE_MS } from '../patience.js';
import { workplace } from './program.js';

const { run, read, write } = workplace();

/** What a person does by the page, in its order. */
type Step =
  | { readonly kind: 'writes'; readonly file: string; readonly text: string }
  | { readonly kind: 'changes'; readonly file: string; readonly from: string; readonly to: string }
  | { readonly kind: 'types'; readonly line: string }
  | { readonly kind: 'sees'; readonly line: string };

/** A file by its name and block, a change of a line, a block of commands, a block of what they print. */
const parts =
  /`([\w.]+)`:\n\n```\w+\n([^]*?)```|In `([\w.]+)`, change `([^`]+)` to `([^`]+)`|```sh\n([^]*?)```|```text\n([^]*?)```/g;

function stepsOf(page: string): Step[] {
  const lines = (block: string) => block.split('\n').filter((line) => line !== '');
  return [...page.matchAll(parts)].flatMap(([, file, text, changed, from, to, typed, seen]): Step[] => {
    if (file !== undefined) return [{ kind: 'writes', file, text: text! }];
    if (changed !== undefined) return [{ kind: 'changes', file: changed, from: from!, to: to! }];
    if (typed !== undefined) return lines(typed).map((line) => ({ kind: 'types', line }));
    return lines(seen!).map((line) => ({ kind: 'sees', line }));
  });
}

/** The words of a line, as a shell reads them. */
function wordsOf(line: string): string[] {
  const read = shellWords(line);
  if (read.kind === 'refused') throw new Error(`${line}: ${read.why}`);
  return read.words.map(({ text }) => text);
}

describe.skipIf(!hasProgram('python3', 'docs/tutorial.md'))('the tutorial', () => {
  it('prints what it says, typed as it stands', { tags: ['long'], timeout: 10 * PATIENCE_MS }, async () => {
    const steps = stepsOf(readFileSync('docs/tutorial.md', 'utf8'));
    expect(steps.filter(({ kind }) => kind === 'types').length).toBeGreaterThanOrEqual(10);
    expect(steps.filter(({ kind }) => kind === 'sees').length).toBeGreaterThanOrEqual(5);
    let printed = '';
    for (const step of steps) {
      if (step.kind === 'writes') write(step.file, step.text);
      else if (step.kind === 'changes') {
        expect(read(step.file)).toContain(step.from);
        write(step.file, read(step.file).replace(step.from, step.to));
      } else if (step.kind === 'types') {
        const [program, ...words] = wordsOf(step.line);
        expect(program).toBe('memrl-tui');
        const { code, out, err } = await run(...words);
        // A sweep in which runs failed ends with 3.
        expect([step.line, err, code === 3 && words.length === 1 ? 0 : code]).toEqual([
          step.line,
          expect.anything(),
          0,
        ]);
        printed = out;
      } else expect(printed).toContain(step.line.trim());
    }
    expect(read('fit.csv').trim().split('\n')).toHaveLength(1 + 36);
    expect(read('fit.html')).toContain('lr=0.1 batch_size=4 has the best median');
  });
});
