"""Shapes of well-known tokens: what tells them apart, and how they run.

One table, sorted by maker. A shape is looked for only in words that hold one of its needles, and its pattern is
compiled then, so a hook program that meets no token pays for none. Prefixes as published by their makers and as
collected by gitleaks and detect-secrets (both read, neither copied).
"""

from __future__ import annotations

import re
from operator import add

_B = r"(?<![A-Za-z0-9])"  # no letter or digit before: for needles short enough to occur by chance
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

SHAPES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    # kind, needles, pattern
    ("1password-token", ("ops_eyJ",), r"ops_eyJ[A-Za-z0-9+/=_-]{50,}"),
    ("adafruit-key", ("aio_",), _B + r"aio_[A-Za-z0-9]{28}"),
    ("age-key", ("AGE-SECRET-KEY-",), r"AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    ("airtable-token", ("pat",), _B + r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    ("alibaba-key", ("LTAI",), _B + r"LTAI[A-Za-z0-9]{12,26}"),
    ("anthropic-key", ("sk-ant-",), r"sk-ant-[A-Za-z0-9_-]{16,}"),
    ("artifactory-key", ("AKC",), _B + r"AKC[A-Za-z0-9]{10,}"),
    ("artifactory-token", ("cmVmdGtu",), r"cmVmdGtu[A-Za-z0-9]{40,}"),
    ("artifactory-password", ("AP",), _B + r"AP[0-9A-F][A-Za-z0-9]{25,}"),
    ("atlassian-token", ("ATATT3", "ATCTT3", "ATBB"), r"AT(?:ATT3|CTT3|BB)[A-Za-z0-9_=-]{24,}"),
    (
        "aws-key",
        ("AKIA", "ASIA", "ABIA", "ACCA", "A3T"),
        _B + r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
    ),
    ("azure-client-secret", ("Q~",), _B + r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    ("azure-devops-token", ("AZDO",), _B + r"[A-Za-z0-9]{50,200}AZDO[A-Za-z0-9]{4}"),
    ("buildkite-token", ("bkua_",), r"bkua_[a-f0-9]{40}"),
    ("circleci-token", ("CCIPAT_", "CCIPRJ_"), r"CCIP(?:AT|RJ)_[A-Za-z0-9_]{24,}"),
    ("clojars-token", ("CLOJARS_",), r"CLOJARS_[a-z0-9]{60}"),
    ("contentful-token", ("CFPAT-",), r"CFPAT-[A-Za-z0-9_-]{40,}"),
    ("crates-token", ("cio",), _B + r"cio[A-Za-z0-9]{32}"),
    ("databricks-token", ("dapi",), _B + r"dapi[a-f0-9]{32}(?:-\d)?"),
    ("digitalocean-token", ("_v1_",), r"do[opr]_v1_[a-f0-9]{64}"),
    ("discord-webhook", ("/webhooks/",), r"discord(?:app)?\.com/api/webhooks/\d+/[\w-]{40,}"),
    ("docker-token", ("dckr_",), r"dckr_[po]at_[A-Za-z0-9_-]{20,}"),
    ("doppler-token", ("dp.",), _B + r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]+\.)?[A-Za-z0-9]{40,44}"),
    ("dropbox-token", ("sl.",), _B + r"sl\.(?:u\.)?[A-Za-z0-9_-]{100,}"),
    ("duffel-token", ("duffel_",), r"duffel_(?:test|live)_[A-Za-z0-9_=-]{43}"),
    ("dynatrace-token", ("dt0",), _B + r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("easypost-key", ("EZAK", "EZTK"), _B + r"EZ[AT]K[A-Za-z0-9]{54}"),
    ("facebook-token", ("EAA",), _B + r"EAA[A-Za-z0-9]{80,}"),
    ("figma-token", ("figd_",), r"figd_[A-Za-z0-9_-]{38,}"),
    ("flutterwave-key", ("FLWSECK",), r"FLWSECK(?:_TEST)?-[a-zA-Z0-9]{12,}(?:-X)?"),
    ("fly-token", ("fo1_", "fm1_", "fm2_"), r"(?:fo1|fm[12]r?)_[A-Za-z0-9_+/=-]{40,}"),
    ("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9_]{30,}"),
    ("github-token", ("github_pat_",), r"github_pat_[A-Za-z0-9_]{22,}"),
    (
        "gitlab-token",
        ("glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "glcbt-", "glimt-", "glptt-", "glagent-", "gloas-"),
        r"gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas)-[A-Za-z0-9_.-]{20,}",
    ),
    ("gitlab-token", ("GR1348941",), r"GR1348941[A-Za-z0-9_-]{20,}"),
    ("google-api-key", ("AIza",), r"AIza[0-9A-Za-z_-]{35}"),
    ("google-oauth", ("ya29.",), r"ya29\.[0-9A-Za-z_-]{16,}"),
    ("google-oauth", ("GOCSPX-",), r"GOCSPX-[0-9A-Za-z_-]{24,}"),
    ("google-oauth", ("1//",), _B + r"1//0[0-9A-Za-z_-]{38,}"),
    ("grafana-token", ("glsa_", "glc_"), r"(?:glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/=]{32,})"),
    ("groq-key", ("gsk_",), _B + r"gsk_[A-Za-z0-9]{40,}"),
    ("heroku-key", ("HRKU-",), r"HRKU-[A-Za-z0-9_-]{36,}"),
    ("hubspot-token", ("pat-",), _B + r"pat-[a-z]{2}\d-" + _UUID),
    ("huggingface-token", ("hf_", "api_org_"), _B + r"(?:hf_|api_org_)[A-Za-z0-9]{30,}"),
    ("infracost-key", ("ico-",), _B + r"ico-[A-Za-z0-9]{32}"),
    ("jwt", ("eyJ",), _B + r"eyJ[A-Za-z0-9_=-]{8,4096}\.[A-Za-z0-9_=-]{8,}(?:\.[A-Za-z0-9_.+/=-]*)?"),
    ("launchdarkly-key", ("sdk-", "api-", "mob-"), _B + r"(?:sdk|api|mob)-" + _UUID),
    ("linear-key", ("lin_api_", "lin_oauth_"), r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    ("lob-key", ("live_", "test_"), _B + r"(?:live|test)_[a-f0-9]{35}"),
    ("mailchimp-key", ("-us",), _B + r"[0-9a-f]{32}-us\d{1,2}"),
    ("mailgun-key", ("key-",), _B + r"key-[0-9a-f]{32}"),
    ("netlify-token", ("nfp_",), _B + r"nfp_[A-Za-z0-9]{36,}"),
    (
        "newrelic-key",
        ("NRAK-", "NRII-", "NRJS-", "NRAA-", "NRRA"),
        r"NR(?:AK|II|JS|AA|RA)-?[A-Za-z0-9_-]{19,}",
    ),
    ("notion-token", ("ntn_", "secret_"), _B + r"(?:ntn|secret)_[A-Za-z0-9]{40,}"),
    ("npm-token", ("npm_",), _B + r"npm_[A-Za-z0-9]{36}"),
    ("nuget-key", ("oy2",), _B + r"oy2[a-z0-9]{43}"),
    ("openai-key", ("sk-",), _B + r"sk-(?=[A-Za-z_-]{0,200}\d)[A-Za-z0-9_-]{20,}"),
    ("openshift-token", ("sha256~",), r"sha256~[\w-]{43}"),
    ("perplexity-key", ("pplx-",), r"pplx-[A-Za-z0-9]{32,}"),
    ("plaid-token", ("access-",), r"access-(?:sandbox|development|production)-" + _UUID),
    ("planetscale-token", ("pscale_",), r"pscale_(?:tkn|oauth|pw)_[\w=.-]{32,}"),
    ("postman-key", ("PMAK-",), r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    ("prefect-token", ("pnu_", "pnb_"), _B + r"pn[ub]_[A-Za-z0-9]{36}"),
    ("pulumi-token", ("pul-",), _B + r"pul-[a-f0-9]{40}"),
    ("pypi-token", ("pypi-",), r"pypi-(?=[A-Za-z_-]{0,200}\d)[A-Za-z0-9_-]{40,}"),
    ("readme-token", ("rdme_",), r"rdme_[a-z0-9]{70}"),
    ("replicate-token", ("r8_",), _B + r"r8_[A-Za-z0-9]{37}"),
    ("rubygems-key", ("rubygems_",), r"rubygems_[a-f0-9]{48}"),
    ("sendgrid-key", ("SG.",), _B + r"SG\.[\w-]{16,32}\.[\w-]{16,64}"),
    ("sendinblue-key", ("xkeysib-", "xsmtpsib-"), r"x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    ("sentry-token", ("sntrys_", "sntryu_"), r"sntry[su]_[A-Za-z0-9+/=_]{40,}"),
    ("shippo-token", ("shippo_",), r"shippo_(?:live|test)_[a-f0-9]{40}"),
    (
        "shopify-token",
        ("shpat_", "shpca_", "shppa_", "shpss_", "shptka_"),
        r"shp(?:at|ca|pa|ss|tka)_[a-fA-F0-9]{32}",
    ),
    ("slack-token", ("xox",), r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}"),
    ("slack-token", ("xapp-",), r"xapp-\d-[A-Za-z0-9]+-\d+-[A-Za-z0-9]+"),
    (
        "slack-webhook",
        ("hooks.slack.com",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9_/+]{20,}",
    ),
    ("sonar-token", ("sqp_", "squ_", "sqa_"), _B + r"sq[pua]_[a-f0-9]{40}"),
    ("sourcegraph-token", ("sgp_",), _B + r"sgp_(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}"),
    ("square-token", ("sq0",), _B + r"sq0[a-z]{3}-[0-9A-Za-z_-]{22,43}"),
    ("square-token", ("EAAA",), _B + r"EAAA[A-Za-z0-9_-]{56,}"),
    ("stripe-key", ("k_live_", "k_test_"), r"[rs]k_(?:live|test)_[0-9a-zA-Z]{16,}"),
    ("stripe-webhook", ("whsec_",), r"whsec_[A-Za-z0-9+/=]{24,}"),
    ("supabase-key", ("sbp_", "sb_secret_"), _B + r"(?:sbp|sb_secret)_[A-Za-z0-9_-]{20,}"),
    ("tencent-key", ("AKID",), _B + r"AKID[A-Za-z0-9]{28,36}"),
    ("terraform-token", (".atlasv1.",), r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}"),
    ("twilio-key", ("SK", "AC"), _B + r"(?:SK|AC)[0-9a-f]{32}"),
    ("twitter-token", ("AAAAAAAAAAAAAAAAAAAA",), _B + r"A{20,}[A-Za-z0-9%]{40,}"),
    ("typeform-token", ("tfp_",), _B + r"tfp_[A-Za-z0-9_.=-]{40,}"),
    ("vault-token", ("hvs.", "hvb.", "hvr."), r"hv[sbr]\.[A-Za-z0-9_-]{20,}"),
    ("vercel-token", ("vcp_", "vck_"), _B + r"vc[pk]_[A-Za-z0-9]{24,}"),
    ("xai-key", ("xai-",), _B + r"xai-[A-Za-z0-9]{60,}"),
    ("yandex-key", ("AQVN", "y0_"), _B + r"(?:AQVN|y0_)[A-Za-z0-9_-]{35,}"),
    # without a prefix of their own: known by their build alone
    ("telegram-token", (":AA",), _B + r"\d{8,10}:AA[A-Za-z0-9_-]{32,34}"),
    (
        "discord-token",
        (".",),
        _B + r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}",
    ),
    (
        "aws-secret",
        ("",),
        r"(?<![A-Za-z0-9/+_.-])(?=[A-Za-z+/]*\d)(?=[A-Z0-9+/]*[a-z])(?=[a-z0-9+/]*[A-Z])[A-Za-z0-9+/]{40}(?![\w/+=.-])",
    ),
)

_NEEDLES: dict[str, list[tuple[str, int]]] = {}
"""The first two characters of a needle -> it, and the number of its shape."""
_BUILT: list[tuple[str, int]] = []
"""Shapes whose needle is less than that, with it; all of them are long."""
_LONG = 40
_BLOB = 256
"""In a word from this length on nearly all pairs of characters occur; needles are looked for one by one there."""

for _number, (_, _needles, _) in enumerate(SHAPES):
    for _needle in _needles:
        if len(_needle) < 2:
            _BUILT.append((_needle, _number))
        else:
            _NEEDLES.setdefault(_needle[:2], []).append((_needle, _number))

_compiled: dict[str, re.Pattern[str]] = {}


def candidates(word: str) -> list[tuple[str, re.Pattern[str]]]:
    """Give the kinds whose needles stand in a word, each with its pattern, in the order of the table."""
    found = {number for needle, number in _BUILT if needle in word} if len(word) >= _LONG else set[int]()
    pairs = _NEEDLES.keys() if len(word) >= _BLOB else _NEEDLES.keys() & set(map(add, word, word[1:]))
    for pair in pairs:
        for needle, number in _NEEDLES[pair]:
            if needle in word:
                found.add(number)
    return [(SHAPES[number][0], _pattern(SHAPES[number][2])) for number in sorted(found)]


def _pattern(text: str) -> re.Pattern[str]:
    compiled = _compiled.get(text)
    if compiled is None:
        compiled = _compiled[text] = re.compile(text)
    return compiled
