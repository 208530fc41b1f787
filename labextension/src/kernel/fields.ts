// Fields: what a message of the kernel process may hold, read one by one because it comes from outside.
// Imported with the ending .js, which node, where the tests run, asks for.

export type Fields = Record<string, unknown>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function text(content: Fields, key: string): string {
  const value = content[key];
  return typeof value === 'string' ? value : '';
}
