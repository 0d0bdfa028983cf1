import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** One hash over the names and contents of files and folders; what does not exist counts as such. */
export function hashOf(root, paths) {
  const hash = createHash('sha256');
  for (const path of paths.flatMap((path) => filesIn(root, path))) {
    hash
      .update(`${path}\0`)
      .update(readOr(join(root, path), ''))
      .update('\0');
  }
  return hash.digest('hex');
}

/** Whether the stamped output was made from this hash. */
export function isStamped(stampFile, hash) {
  return readOr(stampFile, Buffer.of()).toString() === hash;
}

export function stamp(stampFile, hash) {
  writeFileSync(stampFile, hash);
}

function filesIn(root, path) {
  if (!statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory()) return [path];
  // Sorted, because file systems list in any order.
  const names = readdirSync(join(root, path)).sort();
  return names.flatMap((name) => filesIn(root, `${path}/${name}`));
}

function readOr(file, fallback) {
  try {
    return readFileSync(file);
  } catch {
    return fallback;
  }
}
