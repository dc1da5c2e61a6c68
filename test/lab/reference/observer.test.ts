import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bitLength } from '../../../src/lab/environments/memory/rules.js';
import type { LabCondition } from '../../../src/lab/reference/conditions.js';
import { Observer } from '../../../src/lab/reference/observer.js';
import { episodesRow, episodesIn, type ObservedEpisode } from '../../../src/lab/reference/observed-episode.js';
import { scoreGuess, type RewardRule } from '../../../src/lab/environments/memory/rewards.js';
import { secretBits } from '../../../src/lab/environments/memory/secret.js';

type Bit = 0 | 1 | null;
const rules: [LabCondition, RewardRule][] = [
  [{ kind: 'binary' }, { type: 'binary' }],
  [{ kind: 'log-distance' }, { type: 'log_distance' }],
  ...[2, 4, 8].map((bins): [LabCondition, RewardRule] => [
    { kind: 'binned', bins },
    { type: 'binned_log_distance', bins },
  ]),
];

const seenNumber = (guess: number | null, secret: number, N: number, rule: RewardRule): ObservedEpisode => ({
  kind: 'number',
  guess,
  reward: scoreGuess(guess, secret, N, rule).reward,
});
const seenBits = (bits: readonly Bit[], secret: number, N: number): ObservedEpisode => ({
  kind: 'bits',
  bits,
  rewards: secretBits(secret, N).map((right, position) => Number(bits[position] === right)),
});

/** A game of so many episodes, told as pairs of a secret and the episodes that it would give. */
const numberGame = fc
  .record({ N: fc.integer({ min: 1, max: 70 }), rule: fc.constantFrom(...rules), seed: fc.nat() })
  .chain(({ N, rule, seed }) => {
    const guess = fc.option(fc.nat({ max: N - 1 }), { freq: 5 });
    return fc.array(guess, { maxLength: 12 }).map((guesses) => ({
      N,
      condition: rule[0],
      secret: seed % N,
      played: (secret: number) => guesses.map((each) => seenNumber(each, secret, N, rule[1])),
      hears: (episode: ObservedEpisode) => episode.kind === 'number' && episode.reward,
    }));
  });
const bitGame = fc
  .record({
    N: fc.integer({ min: 2, max: 70 }),
    credit: fc.constantFrom('stepwise' as const, 'to_go' as const, 'trajectory' as const),
    seed: fc.nat(),
  })
  .chain(({ N, credit, seed }) => {
    const bit = fc.option(fc.constantFrom<Bit>(0, 1), { freq: 8 });
    const word = fc.array(bit, { minLength: bitLength(N), maxLength: bitLength(N) });
    return fc.array(word, { maxLength: 6 }).map((words) => ({
      N,
      condition: { kind: 'dense' as const, credit },
      secret: seed % N,
      played: (secret: number) => words.map((bits) => seenBits(bits, secret, N)),
      // Rewards to go tell those of each turn by their differences.
      hears: (episode: ObservedEpisode) =>
        episode.kind === 'bits' &&
        (credit === 'trajectory' ? episode.rewards.reduce((sum, each) => sum + each, 0) : episode.rewards.join('')),
    }));
  });

describe('the ideal observer', () => {
  it('keeps exactly the secrets that would have given the same rewards', () => {
    fc.assert(
      fc.property(fc.oneof(numberGame, bitGame), ({ N, condition, secret, played, hears }) => {
        const observer = new Observer(condition, N);
        const episodes = played(secret);
        for (const episode of episodes) observer.note(episode);
        const alike = Array.from({ length: N }, (_, other) => played(other)).filter((others) =>
          others.every((other, index) => hears(other) === hears(episodes[index]!)),
        );
        expect(observer.possible).toBe(alike.length);
        expect(observer.bitsKnown).toBeCloseTo((N === 1 ? 1 : Math.log2(N)) - Math.log2(alike.length), 9);
        expect(observer.episodes).toBe(episodes.length);
        expect(observer.determined === null).toBe(alike.length > 1);
      }),
      { numRuns: 300 },
    );
  });

  it('never knows fewer bits than before, and reports when one secret was left', () => {
    fc.assert(
      fc.property(numberGame, ({ N, condition, secret, played }) => {
        const observer = new Observer(condition, N);
        let known = observer.bitsKnown;
        for (const [index, episode] of played(secret).entries()) {
          const wasSure = observer.determined !== null;
          observer.note(episode);
          expect(observer.bitsKnown).toBeGreaterThanOrEqual(known);
          if (observer.determined !== null && !wasSure) expect(observer.determined).toBe(index + 1);
          known = observer.bitsKnown;
        }
      }),
    );
  });

  it('continues from its saved state as if uninterrupted', () => {
    fc.assert(
      fc.property(fc.oneof(numberGame, bitGame), fc.nat({ max: 12 }), ({ N, condition, secret, played }, at) => {
        const [straight, first, second] = [0, 1, 2].map(() => new Observer(condition, N));
        const episodes = played(secret);
        for (const episode of episodes) straight!.note(episode);
        for (const episode of episodes.slice(0, at)) first!.note(episode);
        second!.restore(JSON.parse(JSON.stringify(first!.state())) as ReturnType<Observer['state']>);
        for (const episode of episodes.slice(at)) second!.note(episode);
        expect(second!.state()).toEqual(straight!.state());
      }),
    );
  });

  it('knows from a file of episodes what it knew in the run', () => {
    fc.assert(
      fc.property(fc.oneof(numberGame, bitGame), ({ N, condition, secret, played }) => {
        const row = JSON.parse(JSON.stringify(episodesRow(3, played(secret)))) as ReturnType<typeof episodesRow>;
        const [direct, read] = [new Observer(condition, N), new Observer(condition, N)];
        for (const episode of played(secret)) direct.note(episode);
        for (const episode of episodesIn(row, N)!) read.note(episode);
        expect(read.state()).toEqual(direct.state());
      }),
    );
  });

  it('knows the secret after one dense episode with a reward for each bit, but not from their sum', () => {
    const told = (credit: 'stepwise' | 'trajectory') => {
      const observer = new Observer({ kind: 'dense', credit }, 1024);
      observer.note(seenBits([0, 1, 1, 0, 0, 1, 0, 1, 1, 0], 57, 1024));
      return observer;
    };
    expect(told('stepwise')).toMatchObject({ determined: 1, entropy: 0 });
    expect(told('trajectory')).toMatchObject({ determined: null });
  });

  it('distinguishes all rewards below 65,536, and refuses larger N', () => {
    const condition: LabCondition = { kind: 'log-distance' };
    const observer = new Observer(condition, 65_536);
    observer.note(seenNumber(0, 65_535, 65_536, { type: 'log_distance' }));
    observer.note(seenNumber(1, 65_535, 65_536, { type: 'log_distance' }));
    expect(observer.possible).toBe(1);
    expect(() => new Observer(condition, 65_537)).toThrow(/below 65536, and N is 65537/);
  });
});

it.each([
  { row: { step: 0, guesses: [64], rewards: [0] } },
  { row: { step: 0, guesses: [1.5], rewards: [0] } },
  { row: { step: 0, guesses: [1, 2], rewards: [0] } },
  { row: { step: 0, guesses: ['01010'], rewards: ['010101'] } },
  { row: { step: 0, guesses: ['01x101'], rewards: ['010101'] } },
  { row: { step: 0, guesses: [3], rewards: ['1'] } },
])('$row is no row of a game below 64', ({ row }) => expect(episodesIn(row, 64)).toBeNull());
