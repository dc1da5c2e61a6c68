import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { id, newExecutor, orderFor, runFolder } from './folder.js';

describe('files that a run is handed', () => {
  it('are in its directory when it starts, and are written anew at each attempt', async () => {
    const directory = runFolder();
    for (const attempt of [1, 2]) {
      const { executor, untilEnded } = newExecutor();
      const order = orderFor(directory, ['sh', '-c', 'cat args.json; echo spoilt > args.json'], attempt);
      executor.start(id, { ...order, files: { 'args.json': `{"attempt":${attempt}}\n` } });
      expect(await untilEnded()).toEqual({ kind: 'exited', code: 0 });
      expect(readFileSync(`${directory}/output.log`, 'utf8')).toContain(`{"attempt":${attempt}}`);
    }
    expect(readFileSync(`${directory}/output.log`, 'utf8')).not.toContain('spoilt');
  });
});
