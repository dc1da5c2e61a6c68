import { fileURLToPath } from 'node:url';
import type { Programs } from '../client/ensure-supervisor.js';
import { remark } from './terminal.js';

/** Where the supervisor and the runs' own programs lie: beside this bundle. */
export function supervisorPrograms(): Programs {
  return {
    node: process.execPath,
    supervisor: fileURLToPath(new URL('./supervisor.js', import.meta.url)),
    bin: fileURLToPath(new URL('./bin', import.meta.url)),
    environment: process.env,
    tell: remark,
  };
}
