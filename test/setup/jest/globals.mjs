// `@jest/globals` for modules that stay loaded from one test file to the next: what they call is the running file's.
const ofRunningFile = (name) =>
  new Proxy(() => undefined, {
    apply: (_target, _this, args) => globalThis[name](...args),
    get: (_target, key) => globalThis[name][key],
  });

export const afterAll = ofRunningFile('afterAll');
export const afterEach = ofRunningFile('afterEach');
export const beforeAll = ofRunningFile('beforeAll');
export const beforeEach = ofRunningFile('beforeEach');
export const describe = ofRunningFile('describe');
export const expect = ofRunningFile('expect');
export const it = ofRunningFile('it');
export const jest = ofRunningFile('jest');
export const test = ofRunningFile('test');
