import { appendFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { event, eventOf } from '../../../bench/support/event-file.js';
import { message } from '../../../bench/support/protobuf-bytes.js';
import { describeSources } from '../../../src/metrics/describe-sources.js';
import { openMetrics, type RunMetrics } from '../../../src/metrics/run-metrics.js';
import { removeFolder } from '../../remove-folder.js';

let run: string;
beforeEach(() => void (run = mkdtempSync(join(tmpdir(), 'media-'))));
afterEach(() => removeFolder(run));

/** Fields of a value: torch has one for each kind, TensorFlow 2 a tensor and the name of a plugin. */
const fields = { image: 4, histogram: 5, audio: 6, tensor: 8, metadata: 9 };
const torch = (kind: 'image' | 'histogram' | 'audio', size = 8) => message(fields[kind], Buffer.alloc(size, 7));
const plugin = (name: string) =>
  Buffer.concat([message(fields.tensor, 'bytes'), message(fields.metadata, message(1, message(1, name)))]);
const told = (metrics: RunMetrics) =>
  describeSources(metrics).sources.flatMap(({ leftOut = [] }) => leftOut.filter((words) => words.startsWith('no ')));

const path = () => join(run, 'events.out.tfevents.1700000000.host.7.0');

describe('what is no number in event files', () => {
  it('is counted and named, by torch and by TensorFlow 2, without texts, which are settings', () => {
    const all = [
      ...[event('loss', 2, 0), eventOf('w', torch('histogram'), 0), eventOf('w', torch('histogram'), 4)],
      ...[eventOf('x', torch('image'), 3), eventOf('voice', torch('audio'), 1), eventOf('args', plugin('text'), 0)],
      ...[eventOf('y', plugin('images'), 5), eventOf('z', plugin('histograms'), 6), event('loss', 1, 9)],
    ];
    writeFileSync(path(), Buffer.concat(all));
    const metrics = openMetrics(run).readNow();
    expect(metrics.keys()).toEqual(['step', 'loss']);
    expect(told(metrics)).toEqual([
      'no numbers, and without a curve: w (histogram, 2×, the last at step 4), x (image, 1×, the last at step 3), voice (audio, 1×, the last at step 1), y (image, 1×, the last at step 5), z (histogram, 1×, the last at step 6)',
    ]);
  });

  it('is counted where it is too large to be read, and once, however the file grows', () => {
    const bytes = Buffer.concat([
      ...[event('loss', 2, 0), eventOf('large', torch('image', 1.5 * 2 ** 20), 3)],
      ...[event('loss', 1, 1), eventOf('large', torch('image', 1.5 * 2 ** 20), 8), event('loss', 0, 2)],
    ]);
    for (const piece of [bytes.length, 700_001, 99_991]) {
      writeFileSync(path(), '');
      const metrics = openMetrics(run);
      for (let at = 0; at < bytes.length; at += piece) {
        appendFileSync(path(), bytes.subarray(at, at + piece));
        metrics.readNow();
      }
      expect(told(metrics)).toEqual(['no numbers, and without a curve: large (image, 2×, the last at step 8)']);
      expect([...metrics.series('loss').y]).toEqual([2, 1, 0]);
    }
  });
});
