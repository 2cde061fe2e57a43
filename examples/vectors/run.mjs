// Run the vectors of `mqconform vectors` in JavaScript: node run.mjs FOLDER. Replace `read` by your own parser.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

function read(bytes) { // a parser for only the BaseHeader (MS-MQMQ 2.2.19.1)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (bytes.length < 16 || view.getUint8(0) !== 0x10 || view.getUint32(4, true) !== 0x524f494c) throw new Error('no packet');
  return { 'BaseHeader.PacketSize': view.getUint32(8, true), 'BaseHeader.TimeToReachQueue': view.getUint32(12, true) };
}

let failed = 0, compared = 0;
for (const name of readdirSync(process.argv[2]).filter((one) => /^(?!rpc|ping|schema).*\.json$/.test(one))) {
  for (const vector of JSON.parse(readFileSync(join(process.argv[2], name))).vectors.filter((one) => one.result === 'valid')) {
    const found = read(Buffer.from(vector.bytes, 'hex'));
    for (const field of vector.fields.filter((one) => one.name in found)) {
      compared += 1;
      if (found[field.name] !== field.value) { failed += 1; console.log(`${name} ${vector.name}: ${field.name}`); }
    }
  }
}
console.log(`${compared} fields compared, ${failed} differ`);
process.exit(failed ? 1 : 0);
