/*
 * The SDK and its workflow bundle `require` this file by its path, so it is CommonJS; and it is plain JavaScript, since
 * webpack does not compile `.cts`. With `encodeCommonAttributes` the messages and stack traces of errors also go
 * through the payload codec.
 */
const { DefaultFailureConverter } = require('@temporalio/common');

exports.failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
