import { rename, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, type BundleOptions } from '@temporalio/worker';
import { failureConverterPath } from './payload-codec.js';

export interface WorkflowBundleFile {
  /** For a worker: `workflowBundle: {codePath}`. */
  codePath: string;
  /** The size of the code that a worker evaluates. */
  bytesWithoutMap: number;
}

/**
 * Bundles the workflows to one file, so that workers need no webpack at their start.
 * The source map stays inlined, three quarters of the file: the SDK refuses bundles without it.
 */
export async function bundleWorkflows(workflowsPath: string, codePath: string): Promise<WorkflowBundleFile> {
  const code = await bundledCode(workflowsPath);
  const unfinished = `${codePath}.${process.pid}`;
  await writeFile(unfinished, code);
  await rename(unfinished, codePath);
  return { codePath, bytesWithoutMap: code.lastIndexOf('//# sourceMappingURL=data:') };
}

/** The bundle's text, with its source map. */
export async function bundledCode(workflowsPath: string): Promise<string> {
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    failureConverterPath,
    logger: new DefaultLogger('WARN'),
    // Our own modules hold no state (a test checks that): evaluated once, all workflows share them.
    preloadModules: [stackDepthPath, workflowsPath],
    webpackConfigHook: withoutComments,
  });
  return code;
}

/** In src and in dist alike. */
const stackDepthPath = fileURLToPath(new URL(`./stack-depth${extname(import.meta.url)}`, import.meta.url));

interface SwcRule {
  readonly test: RegExp;
  use: { readonly loader: string; readonly options: { readonly jsc: object } };
}

/** Comments are a third of the bundle. Names are kept, for stack traces. */
const withoutComments: NonNullable<BundleOptions['webpackConfigHook']> = (config) => {
  const rules = config.module?.rules ?? [];
  const rule = rules.find((candidate) => String((candidate as SwcRule).test) === String(/\.ts$/)) as
    SwcRule | undefined;
  if (rule === undefined) return config;
  const minify = { compress: false, mangle: false, format: { comments: false, beautify: true } };
  const { loader, options } = rule.use;
  rule.use = { loader, options: { ...options, minify: true, jsc: { ...options.jsc, minify } } } as SwcRule['use'];
  const libraries = { sourceMaps: true, minify: true, jsc: { target: 'es2022', minify } };
  return {
    ...config,
    output: { ...config.output, pathinfo: false },
    module: { ...config.module, rules: [...rules, { test: /\.m?js$/, use: { loader, options: libraries } }] },
  };
};
