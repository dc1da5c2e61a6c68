import { type BuildOptions } from 'esbuild';

export declare const programOptions: BuildOptions & { readonly banner: { readonly js: string } };
