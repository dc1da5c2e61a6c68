import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { candidates, forShell, typedLine } from '../../../src/cli/complete.js';
import { launchOptions } from '../../../src/cli/verb-options.js';
import { verbs } from '../../../src/cli/verb-table.js';
import { aRun } from '../../tui/simulated-fleet.js';

const runs = [
  aRun('A_s0', { subgroup: 'two words', state: 'failed', parameters: { N: 64 } }),
  aRun('A_s1', { parameters: { N: 128 } }),
  aRun('B_s0', { group: 'B' }),
];
const look = async () => ({ sweeps: ['abcd', 'other'], runs });

function offered(line: string): Promise<string[]> {
  return candidates(typedLine(line), { verbs, launchOptions }, look);
}

describe('a line up to the cursor', () => {
  it.each<[string, string[], string, '"' | "'" | null]>([
    ['memrl-tui ', ['memrl-tui'], '', null],
    ['memrl-tui ki', ['memrl-tui'], 'ki', null],
    ["m kill 'a b", ['m', 'kill'], 'a b', "'"],
    ['m kill "a \\" b" c\\ d', ['m', 'kill', 'a " b'], 'c d', null],
    ["m 'a'\"b", ['m'], 'ab', '"'],
    ['', [], '', null],
  ])('%j is cut into words', (line, words, current, quote) => {
    expect(typedLine(line)).toEqual({ words, current, quote });
  });

  it('can be anything', async () => {
    const part = fc.constantFrom('"', "'", '\\', ' ', 'memrl-tui ', 'kill ', 'status:', '--', '=');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(part, fc.string({ maxLength: 3 }))), async (parts) => {
        const line = `memrl-tui ${parts.join('')}`;
        for (const shell of ['bash', 'fish'])
          expect(forShell(shell, await offered(line), typedLine(line))).toBeInstanceOf(Array);
      }),
    );
  });
});

describe('completion', () => {
  it.each<[string, string[]]>([
    ['memrl-tui re', ['report', 'resume', 'release', 'restart']],
    ['memrl-tui sweeps/', []],
    ['memrl-tui --de', ['--detach']],
    ['memrl-tui s.yaml --pl', ['--plain']],
    ['memrl-tui wait --t', ['--timeout']],
    ['memrl-tui wait --timeout ', []],
    ['memrl-tui logs --ru', ['--runs']],
    ['memrl-tui export --format j', ['json', 'jsonl']],
    ['memrl-tui report ', ['abcd', 'other']],
    ['memrl-tui report abcd ', []],
    ['memrl-tui attach --plain o', ['other']],
    ['memrl-tui completion z', ['zsh']],
    ['memrl-tui schema doctor-', ['doctor-metrics']],
    ['memrl-tui kill A_', ['A_s0', 'A_s1']],
    ['memrl-tui kill -y A_s0 B', ['B_s0']],
    ['memrl-tui wait ab', ['abcd']],
    ['memrl-tui kill status:f', ['status:failed']],
    ['memrl-tui kill group:A,', ['group:A,A', 'group:A,B']],
    ['memrl-tui kill not N=', ['N=64', 'N=128']],
    ["memrl-tui kill 'status:done or gro", ['status:done or group:']],
    ['memrl-tui priority ', []],
    ['memrl-tui priority 5 B', ['B_s0']],
    ['memrl-tui kill --yes --runs there ', ['status:']],
    ['memrl-tui drain ', []],
    ['memrl-tui nonsense ', []],
  ])('of %j offers %j', async (line, words) => {
    const found = await offered(line);
    if (line.endsWith('there ')) expect(found.slice(0, 1)).toEqual(words);
    else expect(found).toEqual(words);
  });

  it.each<[string, string, string[], string[]]>([
    ['bash', 'm kill status:f', ['status:failed'], ['failed']],
    ['bash', 'm kill subgroup:', ['subgroup:"two words"'], [`'"two words"'`]],
    ['bash', "m kill 'status:f", ['status:failed'], ['status:failed']],
    ['bash', 'm kill A', ['A_s0'], ['A_s0']],
    ['fish', 'm kill status:f', ['status:failed'], ['status:failed']],
    ['zsh', 'm kill subgroup:', ['subgroup:"two words"'], ['subgroup:"two words"']],
  ])('in %s after %j puts %j as %j', (shell, line, words, told) => {
    expect(forShell(shell, words, typedLine(line))).toEqual(told);
  });
});
