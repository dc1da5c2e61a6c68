import type { Plugin } from 'esbuild';

export declare const leanInk: Plugin;
export declare const plainInk: Plugin;
export declare function bundleLeanInk(): Promise<string>;
