/**
 * Variables in the environment of every process of a run. The directory, being unique on a machine, is how stray
 * processes are found again; a program may read all three.
 */
export const runMarks = { id: 'MEMRL_RUN', directory: 'MEMRL_RUN_DIR', attempt: 'MEMRL_ATTEMPT' } as const;
