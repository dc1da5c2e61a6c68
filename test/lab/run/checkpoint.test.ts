import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lastCheckpoint, saveCheckpoint } from '../../../src/lab/run/checkpoint.js';

import { checkpointRows } from '../../../src/lab/run/checkpoint-rows.js';
import { findModel, readModel, restoreModel } from '../../../src/lab/run/model-files.js';
import { openRunDirectory } from '../../../src/lab/run/run-directory.js';
import { microEngine } from '../micro-engine.js';
import { EngineService } from '../../../src/lab/service/engine-service.js';
import { tempDirectory } from '../temp-directory.js';

/** For checkpoints that are whole: nothing is said of them. */
const unsaid = (line: string) => expect.unreachable(line);
const point = (name: string, batch: number) => ({ name, batch, state: { at: batch } });

describe('a checkpoint', () => {
  it('restores weights, optimizer and state, bit for bit', async () => {
    const directory = openRunDirectory(tempDirectory());
    const engine = await microEngine(1);
    await engine.forward([{ prompt: Int32Array.of(0), continuations: [Int32Array.of(1, 2)] }]);
    await engine.backward(Float32Array.of(-1, -1), null);
    await engine.adam({ learningRate: 0.1, beta1: 0.9, beta2: 0.95, epsilon: 1e-8 });
    expect(await saveCheckpoint(directory, point('000001', 1), new EngineService(engine), null)).toBe(
      'checkpoints/000001',
    );
    const other = await microEngine(2);
    const found = lastCheckpoint(directory, unsaid)!;
    expect(found).toMatchObject({ batch: 1, state: { at: 1 } });
    await restoreModel(found.path, other);
    expect(await other.weights()).toEqual(await engine.weights());
    expect(await other.optimizerState()).toEqual(await engine.optimizerState());
  });

  it('has a row in checkpoints.jsonl with tinker-cookbook’s names', async () => {
    const directory = openRunDirectory(tempDirectory());
    const engine = await microEngine();
    await saveCheckpoint(directory, point('000500', 500), new EngineService(engine), null);
    await saveCheckpoint(directory, point('final', 1000), new EngineService(engine), null);
    const at = (name: string) => {
      const place = join(directory.path, 'checkpoints', name);
      return { state_path: place, sampler_path: place };
    };
    expect(readFileSync(join(directory.path, 'checkpoints.jsonl'), 'utf8').trim().split('\n')).toEqual([
      JSON.stringify({ name: '000500', batch: 500, ...at('000500') }),
      JSON.stringify({ name: 'final', batch: 1000, final: true, ...at('final') }),
    ]);
  });

  it('can be replaced, is found past invalid rows, and is skipped when it is incomplete', async () => {
    const directory = openRunDirectory(tempDirectory());
    const rows = join(directory.path, 'checkpoints.jsonl');
    const engine = await microEngine();
    await saveCheckpoint(directory, point('000001', 1), new EngineService(engine), null);
    await saveCheckpoint(directory, point('final', 2), new EngineService(engine), null);
    await saveCheckpoint(directory, point('final', 3), new EngineService(engine), null);
    expect(lastCheckpoint(directory, unsaid)!.batch).toBe(3);
    appendFileSync(rows, '{"name":"000009","ba');
    expect(lastCheckpoint(directory, unsaid)!.batch).toBe(3);
    await saveCheckpoint(directory, point('000004', 4), new EngineService(engine), null);
    expect(checkpointRows(directory.path).map((row) => row.name)).toEqual(['000001', 'final', 'final', '000004']);
    // A line that is no row would make the manager doubt the whole file.
    for (const line of readFileSync(rows, 'utf8').trimEnd().split('\n'))
      expect(JSON.parse(line)).toHaveProperty('name');
    writeFileSync(join(directory.path, 'checkpoints/000004/state.json'), '{"vers');
    const lines: string[] = [];
    expect(lastCheckpoint(directory, (line) => lines.push(line))!.batch).toBe(3);
    expect(lines).toEqual([expect.stringMatching(/000004\/state\.json cannot be read.*the one before it is tried/)]);
    rmSync(join(directory.path, 'checkpoints/000004'), { recursive: true });
    rmSync(join(directory.path, 'checkpoints/final'), { recursive: true });
    expect(lastCheckpoint(directory, unsaid)!.batch).toBe(1);
    expect(readdirSync(join(directory.path, 'checkpoints')).toSorted()).toEqual(['000001']);
  });

  it.each([0, 4, 200, 2000])(
    'truncated to %i bytes of weights is reported, and the previous one is used',
    async (bytes) => {
      const directory = openRunDirectory(tempDirectory());
      for (const batch of [1, 2])
        await saveCheckpoint(directory, point(`00000${batch}`, batch), new EngineService(await microEngine()), null);
      truncateSync(join(directory.path, 'checkpoints/000002/model.safetensors'), bytes);
      const lines: string[] = [];
      expect(lastCheckpoint(directory, (line) => lines.push(line))!.batch).toBe(1);
      expect(lines).toEqual([expect.stringMatching(/000002\/model\.safetensors is not a safetensors file/)]);
    },
  );

  it('is removed when more newer ones exist than are kept', async () => {
    const directory = openRunDirectory(tempDirectory());
    const engine = await microEngine();
    for (const batch of [1, 2, 3, 4])
      await saveCheckpoint(directory, point(`00000${batch}`, batch), new EngineService(engine), 2);
    expect(readdirSync(join(directory.path, 'checkpoints')).toSorted()).toEqual(['000003', '000004']);
    expect(lastCheckpoint(directory, unsaid)!.batch).toBe(4);
  });

  it('is found by its own path, and by the path of its run', async () => {
    const directory = openRunDirectory(tempDirectory());
    await saveCheckpoint(directory, point('000007', 7), new EngineService(await microEngine()), null);
    expect(findModel(directory.path)).toBe(join(directory.path, 'checkpoints/000007'));
    await saveCheckpoint(directory, point('final', 9), new EngineService(await microEngine(1)), null);
    await saveCheckpoint(directory, point('000010', 10), new EngineService(await microEngine()), null);
    const final = join(directory.path, 'checkpoints/final');
    expect(findModel(directory.path)).toBe(final);
    expect(findModel(final)).toBe(final);
    expect(readModel(final).weights).toEqual(await (await microEngine(1)).weights());
    const empty = tempDirectory();
    expect(() => findModel(empty)).toThrow(/no checkpoint/);
    expect(existsSync(join(empty, 'checkpoints'))).toBe(false);
  });
});
