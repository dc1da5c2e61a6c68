/** Where runs are executed: on this machine, or as jobs of Slurm. Apart from the schemas, which the command line does not load. */
export const executorNames = ['local', 'slurm'] as const;
