import { describe, expect, it } from 'vitest';
import { didYouMean, nearest } from '../../src/text/nearest.js';

describe('the nearest word', () => {
  it.each([
    { word: 'comand', among: ['command', 'cwd'], is: 'command' },
    { word: 'group', among: ['groups', 'grace'], is: 'groups' },
    { word: 'warmpu', among: ['warmup'], is: 'warmup' },
    { word: 'cdw', among: ['cwd'], is: 'cwd' },
    { word: 'LR', among: ['lr', 'l2'], is: 'lr' },
    { word: 'lr', among: ['learning_rate', 'log_path'], is: 'learning_rate' },
    { word: 'bs', among: ['batch-size', 'base'], is: 'batch-size' },
    { word: 'zzz', among: ['command'], is: null },
    { word: 'c', among: ['command'], is: null },
    { word: '', among: ['command', 'batch_size'], is: null },
  ])('to $word is $is', ({ word, among, is }) => {
    expect(nearest(word, among)).toBe(is);
  });

  it('or else a short list of what there is', () => {
    expect(didYouMean('zzz', ['a', 'b'])).toBe('Known: `a`, `b`.');
    expect(didYouMean('zzz', [])).toBe('There are none.');
  });
});
