export declare function withLazySchemas(text: string): string;
