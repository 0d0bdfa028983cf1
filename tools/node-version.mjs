import { Failure } from './failure.mjs';

const oldest = [20, 19];

export function checkNodeVersion(version = process.versions.node) {
  const [major, minor] = version.split('.').map(Number);
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return;
  throw new Failure(`Towline needs Node ${oldest.join('.')} or later, and this is ${version}. Install a newer Node.`);
}
