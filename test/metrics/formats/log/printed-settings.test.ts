import { appendFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { attemptSeparator } from '../../../../src/contract/files.js';
import { describeSources, reportLines } from '../../../../src/metrics/describe-sources.js';
import { openMetrics } from '../../../../src/metrics/run-metrics.js';
import { removeFolder } from '../../../remove-folder.js';

let run: string;
beforeEach(() => void (run = mkdtempSync(join(tmpdir(), 'settings-'))));
afterEach(() => removeFolder(run));

const print = (...lines: string[]) => appendFileSync(join(run, 'output.log'), `${lines.join('\n')}\n`);
const open = (patterns = {}) => openMetrics(run, { places: { folders: [], patterns } }).readNow();
const settings = ['batch_size = 64', 'lr=0.1'];

describe('what a program prints once before its metrics', () => {
  it('is no metric once something has come again, and that is said', () => {
    print(...settings, 'step=0 loss=3');
    const metrics = open();
    // One value of each: only their names tell them apart yet.
    expect(metrics.keys()).toEqual(['step', 'loss']);
    print('step=1 loss=2');
    expect(metrics.readNow().keys()).toEqual(['step', 'loss']);
    expect(metrics.last()).toEqual({ step: 1, loss: 2 });
    const lines = reportLines(describeSources(metrics)).map(({ text }) => text);
    expect(lines).toContain('settings, printed once before them: batch_size, lr');
  });

  it('is taken for a metric until something comes again, where its name says nothing else', () => {
    print('alpha = 2', 'step=0 loss=3');
    const metrics = open();
    expect(metrics.keys()).toEqual(['alpha', 'step', 'loss']);
    print('step=1 loss=2');
    expect(metrics.readNow().keys()).toEqual(['step', 'loss']);
  });

  it('still has its value for who asks for it', () => {
    print(...settings, 'step=0 loss=3', 'step=1 loss=2');
    expect([...open().series('batch_size').y]).toEqual([64]);
  });

  it('is none either where each attempt prints it again', () => {
    print(...settings, 'step=0 loss=3', 'step=1 loss=2');
    print(attemptSeparator(2, new Date(0)), ...settings, 'step=1 loss=2', 'step=2 loss=1');
    expect(open().keys()).toEqual(['step', 'loss']);
  });

  it.each([
    {
      what: 'comes once, but later',
      lines: ['loss=3', 'loss=2', 'final_accuracy=0.9'],
      keys: ['loss', 'final_accuracy'],
    },
    {
      what: 'comes once, on the line of one that comes again',
      lines: ['loss=3 acc=1', 'loss=2'],
      keys: ['loss', 'acc'],
    },
    { what: 'comes again itself', lines: ['lr=1', 'loss=3', 'lr=0.5', 'loss=2'], keys: ['lr', 'loss'] },
    { what: 'comes once, where nothing comes again', lines: ['acc=0.5', 'f1=0.25'], keys: ['acc', 'f1'] },
  ])('but is a metric where it $what', ({ lines, keys }) => {
    print(...lines);
    expect(open().keys()).toEqual(keys);
  });

  it('is a metric where the sweep says how to find it', () => {
    print('size is 64', 'loss is 3', 'loss is 2');
    expect(open({ size: 'size is (\\d+)', loss: 'loss is (\\d+)' }).keys()).toEqual(['size', 'loss']);
  });

  it('is a metric in a file, where nobody writes settings', () => {
    writeFileSync(join(run, 'metrics.jsonl'), '{"step":0,"size":64}\n{"step":1,"loss":1}\n{"step":2,"loss":1}\n');
    expect(open().keys()).toEqual(['step', 'size', 'loss']);
  });
});
