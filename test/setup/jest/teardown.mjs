/** Jest's `globalTeardown`, of each project: the first one stops what all of them share. */
export default () => globalThis.towlineStopTestServers?.();
