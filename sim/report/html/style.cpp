#include "sim/report/html/style.h"

namespace trainyard {

std::string_view picture_style()
{
    return R"(
:root{color-scheme:light dark;--page:#fff;--ink:#1b1f24;--muted:#5d6670;--line:#d8dde3;--card:#f6f8fa;
--idle:#e7eaee;--alarm:#b3261e;--good:#1a7f37;--fair:#9a6700}
@media (prefers-color-scheme:dark){:root{--page:#0f1419;--ink:#e6e9ed;--muted:#9aa4af;--line:#2c343d;
--card:#171d24;--idle:#252c34;--alarm:#ff8a80;--good:#57c278;--fair:#e3b341}}
svg text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
fill:var(--ink)}
svg text.title{font-size:16px;font-weight:600}
svg text.muted{fill:var(--muted);font-size:11px}
svg text.tiny{fill:var(--muted);font-size:8px}
svg text.on-colour{fill:#fff;font-size:10px;pointer-events:none}
svg .page{fill:var(--page)}
svg .grid{stroke:var(--line);stroke-width:1}
svg .limit{stroke:var(--alarm);stroke-width:1.5;stroke-dasharray:5 3}
svg .curve{fill:none;stroke-width:1.6}
svg .curve.dashed{stroke-dasharray:4 3}
svg .band{opacity:.15}
svg .mark{stroke:var(--page);stroke-width:1}
svg .ring{fill:none;stroke:var(--ink);stroke-width:1.5}
svg .axis{stroke:var(--muted);stroke-width:1}
svg text.limit-text{fill:var(--alarm);font-size:11px}
)";
}

std::string_view page_style()
{
    return R"(
body{margin:0;background:var(--page);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:1080px;margin:0 auto;padding:28px 24px 48px}
h1{font-size:24px;line-height:1.25;margin:0}
h2{font-size:17px;margin:36px 0 10px;padding-bottom:5px;border-bottom:1px solid var(--line)}
h3{font-size:14px;margin:20px 0 6px}
p{margin:6px 0}
.sub{color:var(--muted);margin:4px 0 8px}
.cards{display:grid;grid-template-columns:repeat(4,1fr);gap:12px;margin-top:22px}
@media (max-width:900px){.cards{grid-template-columns:repeat(2,1fr)}}
.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:12px 14px}
.card .name{color:var(--muted);font-size:13px}
.card .value{font-size:22px;font-weight:650;line-height:1.35}
.card .note{color:var(--muted);font-size:13px;line-height:1.4}
.card.wide{grid-column:1/-1}
.card.wide .value{font-size:19px}
.alarm{color:var(--alarm)}.good{color:var(--good)}.fair{color:var(--fair)}
.poor{color:var(--alarm)}
svg{display:block;width:100%;height:auto}
svg.defs{position:absolute;width:0;height:0}
svg.swatch{display:inline-block;width:12px;height:12px;vertical-align:-1px;margin-right:7px}
.scroll{overflow-x:auto}
.scroll+.scroll,.sub+.scroll,svg+.scroll{margin-top:18px}
table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}
th{font-weight:600;color:var(--muted);text-align:left;font-size:13px}
th,td{padding:4px 10px 4px 0;border-bottom:1px solid var(--line);white-space:nowrap}
th.n,td.n{text-align:right}
td.w{white-space:normal}
ul{margin:6px 0;padding-left:20px}
pre{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:12px;overflow-x:auto;
font:12px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
summary{cursor:pointer;color:var(--muted)}
footer{margin-top:40px;color:var(--muted);font-size:13px}
@media print{main{max-width:none}details{display:none}}
)";
}

} // namespace trainyard
