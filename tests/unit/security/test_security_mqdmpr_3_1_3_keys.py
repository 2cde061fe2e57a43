"""MS-MQDMPR 3.1.3: the keys of a queue manager, and the lists of its public keys."""

import pytest
from security_made import PROVIDERS, remote_keys, rsa_key

from reference_qm.codec import PublicKeyBlob
from reference_qm.security import (
    KEY_BITS_BY_PROVIDER,
    MqdsPublicKeys,
    build_directory_key_list,
    generate_rsa_key,
    parse_public_key,
)
from reference_qm.surface.entropy import SeededEntropy


@pytest.mark.parametrize("bits", sorted(set(KEY_BITS_BY_PROVIDER.values())))
def test_generated_key_has_requested_bits_and_works(bits):
    key = generate_rsa_key(bits, SeededEntropy("one"))
    numbers = key.private_numbers()
    assert key.key_size == numbers.public_numbers.n.bit_length() == bits
    assert numbers.p * numbers.q == numbers.public_numbers.n
    message = 0x1234567
    assert (
        pow(pow(message, numbers.public_numbers.e, numbers.public_numbers.n), numbers.d, numbers.public_numbers.n)
        == message
    )


def test_generated_key_depends_only_on_entropy():
    one, again, other = (generate_rsa_key(512, SeededEntropy(seed)).private_numbers() for seed in ("a", "a", "b"))
    assert one == again
    assert one != other


def test_generated_keys_have_printed_sizes():
    assert list(KEY_BITS_BY_PROVIDER.values()) == [512, 1024, 1024]
    assert [name.split()[1] for name in KEY_BITS_BY_PROVIDER] == ["Base", "Enhanced", "Enhanced"]


def test_public_key_list_has_a_key_per_provider_in_printed_order():
    keys = build_directory_key_list({name: rsa_key(PROVIDERS[name][1]) for name in reversed(PROVIDERS)})
    assert [key.sProviderName for key in keys.aPublicKeys] == list(KEY_BITS_BY_PROVIDER)
    assert keys == remote_keys(*KEY_BITS_BY_PROVIDER)
    assert MqdsPublicKeys.parse(keys.build()) == keys
    for key in keys.aPublicKeys:
        wanted = rsa_key(PROVIDERS[key.sProviderName][1]).public_key().public_numbers()
        assert parse_public_key(PublicKeyBlob.parse(key.aBuf)).public_numbers() == wanted


def test_public_key_list_omits_a_provider_without_key():
    assert build_directory_key_list({}).aPublicKeys == ()
