/** The topics of `doctor`, in the order in which it prints them. */
export const topics = ['Machine', 'Terminal', 'Runs directory', 'Limits', 'Survival', 'Slurm'] as const;
