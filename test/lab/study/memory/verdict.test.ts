import { describe, expect, it } from 'vitest';
import { judge, type Curve, type VerdictInput } from '../../../../src/lab/study/memory/verdict.js';

/** Evaluated every 100 steps of 4 episodes. */
const curve = (bits: number[], greedy: Curve['greedy'] = null): Curve => ({
  evaluations: bits.map((each, index) => ({ step: index * 100, episodes: index * 400, bits: each })),
  greedy,
});
/** N = 1024: ten bits, so 9.5 are enough. */
const ended: VerdictInput = { secretBits: 10, secret: 57, state: 'done' };

describe('the verdict on a memory run', () => {
  it.each<{
    what: string;
    bits: number[];
    greedy?: Curve['greedy'];
    lately?: Curve['lately'];
    judged?: Partial<VerdictInput>;
    verdict: object;
  }>([
    {
      what: 'memorised at the first evaluation from which on it stays',
      bits: [0, 3, 9.6, 10, 10],
      verdict: { kind: 'memorised', step: 200, episodes: 800, resolution: 400 },
    },
    {
      what: 'memorised after the last fall below, not at the first crossing',
      bits: [0, 9.9, 9.49, 9.5, 9.7],
      verdict: { kind: 'memorised', step: 300, episodes: 1200, resolution: 400 },
    },
    {
      what: 'memorised at the very last evaluation',
      bits: [0, 9.5],
      verdict: { kind: 'memorised', step: 100, episodes: 400, resolution: 400 },
    },
    {
      what: 'memorised from the start',
      bits: [10, 10],
      verdict: { kind: 'memorised', step: 0, episodes: 0, resolution: null },
    },
    {
      what: 'censored when it knew and forgot',
      bits: [0, 10, 4],
      verdict: { kind: 'censored', bits: 4, episodes: 800 },
    },
    {
      what: 'censored just below the threshold',
      bits: [0, 9.49],
      verdict: { kind: 'censored', bits: 9.49, episodes: 400 },
    },
    {
      what: 'stuck when sure of a wrong number',
      bits: [0, -9],
      greedy: { answer: 58, probability: 0.99 },
      verdict: { kind: 'stuck', answer: 58, bits: -9, episodes: 400 },
    },
    {
      what: 'stuck when sure of no number at all',
      bits: [0, -9],
      greedy: { answer: null, probability: 0.95 },
      verdict: { kind: 'stuck', answer: null, bits: -9, episodes: 400 },
    },
    {
      what: 'collapsed when unsure, and the secret far below chance',
      bits: [0, -6.6],
      greedy: { answer: 58, probability: 0.3 },
      verdict: { kind: 'collapsed', bits: -6.6, episodes: 400 },
    },
    {
      what: 'on a plateau when nearly all groups earn one reward above 0, however far below chance the secret is',
      bits: [0, -6.6],
      lately: { constantShare: 0.995, reward: 0.71 },
      verdict: { kind: 'plateau', reward: 0.71, bits: -6.6, episodes: 400 },
    },
    {
      what: 'stuck, and not only on a plateau, when sure of a wrong number',
      bits: [0, -9],
      greedy: { answer: 58, probability: 0.99 },
      lately: { constantShare: 1, reward: 0.86 },
      verdict: { kind: 'stuck', answer: 58, bits: -9, episodes: 400 },
    },
    {
      what: 'collapsed when nothing earns anything any more',
      bits: [0, -6.6],
      lately: { constantShare: 1, reward: 0 },
      verdict: { kind: 'collapsed', bits: -6.6, episodes: 400 },
    },
    {
      what: 'censored when one group in thirty still differs',
      bits: [0, 4],
      lately: { constantShare: 0.967, reward: 0.7 },
      verdict: { kind: 'censored', bits: 4, episodes: 400 },
    },
    {
      what: 'not collapsed a little below chance',
      bits: [0, -1.4],
      verdict: { kind: 'censored', bits: -1.4, episodes: 400 },
    },
    {
      what: 'not stuck on the right number below the threshold',
      bits: [0, 9.4],
      greedy: { answer: 57, probability: 0.95 },
      verdict: { kind: 'censored', bits: 9.4, episodes: 400 },
    },
    {
      what: 'stuck by its bits when nobody knows the secret',
      bits: [0, -4],
      greedy: { answer: 3, probability: 0.95 },
      judged: { secret: null },
      verdict: { kind: 'stuck', answer: 3, bits: -4, episodes: 400 },
    },
    {
      what: 'memorised though it was killed afterwards',
      bits: [0, 10],
      judged: { state: 'killed' },
      verdict: { kind: 'memorised', step: 100, episodes: 400, resolution: 400 },
    },
    {
      what: 'unfinished, not censored, when it failed early',
      bits: [0, 1],
      judged: { state: 'failed' },
      verdict: { kind: 'unfinished', state: 'failed', bits: 1, episodes: 400 },
    },
    {
      what: 'running, whatever it knows now',
      bits: [0, 10],
      judged: { state: 'running' },
      verdict: { kind: 'running', bits: 10, episodes: 400 },
    },
    {
      what: 'running before its first evaluation',
      bits: [],
      judged: { state: 'running' },
      verdict: { kind: 'running', bits: null, episodes: null },
    },
    { what: 'unmeasured without an evaluation', bits: [], verdict: { kind: 'unmeasured', state: 'done' } },
    { what: 'queued', bits: [], judged: { state: 'queued' }, verdict: { kind: 'queued' } },
    {
      what: 'held after an attempt that knew the secret',
      bits: [5, 10],
      judged: { state: 'held' },
      verdict: { kind: 'unfinished', state: 'held', bits: 10, episodes: 400 },
    },
    {
      what: 'memorised by a smaller threshold for a smaller N',
      bits: [0, 3.8],
      judged: { secretBits: 4 },
      verdict: { kind: 'memorised', step: 100, episodes: 400, resolution: 400 },
    },
  ])('is $what', ({ bits, greedy, lately = null, judged, verdict }) => {
    expect(judge({ ...curve(bits, greedy), lately }, { ...ended, ...judged })).toEqual(verdict);
  });
});
