import { dirname, join } from 'node:path';
import { packageRoot } from '../../../src/package-root.js';
import { pythonWith } from '../examples/python-environment.js';

/** The Python program, schemathesis and openapi-python-client; undefined, with a message, if they are not available. */
export interface PublicTools {
  readonly python: string;
  readonly schemathesis: string;
  readonly generator: string;
  /** For programs that look each other up. */
  readonly path: string;
}

export async function publicTools(): Promise<PublicTools | undefined> {
  const requirements = join(packageRoot(), 'test', 'packaging', 'public-tools', 'requirements.txt');
  const python = await pythonWith(requirements, 'schemathesis and the generated Python client');
  if (python === undefined) return undefined;
  const folder = dirname(python);
  return {
    python,
    schemathesis: join(folder, 'schemathesis'),
    generator: join(folder, 'openapi-python-client'),
    path: `${folder}:${process.env['PATH'] ?? ''}`,
  };
}
