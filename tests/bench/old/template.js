// What functions/tests/template.c does, for the server that cloudgate succeeds: a peer of the benchmark.
const fs = require("fs");
const page = fs.readFileSync(__dirname + "/template.html", "utf8");
const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
let views = 0;

exports.handler = (event, context, callback) => {
    const values = { name: "World", views: String(++views), time: new Date().toUTCString() };
    const content = page.replace(/{{(\w+)}}/g, (_, name) => (values[name] || "").replace(/[&<>"']/g, c => escapes[c]));
    callback(null, { status: 200, content, headers: { "Content-Type": "text/html" } });
};
